"""Where a caller is: the organization, the service and the customer of their session, and what they are there.

It is the context in which the session began or that was selected since, not the organization of a path. A sign-in that
is under way has a place of its own in `core/sign_in/places.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.errors import OrganizationNotActive
from core.lazy_dataclasses import dataclass
from core.sessions.customer_contexts import CustomerContext
from core.sessions.group_forms import GroupsAs, told
from core.sessions.mfa_methods import MfaMethods
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm, signature_algorithm
from core.wording import Wording

# How many groups of a user a token names.
GROUPS_NAMED_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """What the caller may use of the service of their session: their plan, and the state of the subscription to it.

    Without a subscription it is the default plan, as if subscribed to. A subscription that has ended is shown as such,
    with the features of the default plan.
    """

    id: UUID
    name: str
    features: list[str]
    subscription_status: str
    current_period_end: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerService:
    """The service to which a session belongs; `is_user` says whether its user is linked to it.

    `groups` are the user's groups that the service learns of, one more than it can; None where it learns of none. It
    reads them, and a customer's, in the form `groups_as`. `is_admitted` and `is_open_to_individuals` concern a session
    for no customer, and so do `roles`, the names of the service's own roles that its organization gives the user; None
    for a service without roles. Only what issues tokens reads `token_signing`, the algorithm that the service's record
    names.
    """

    id: UUID
    slug: str
    client_id: UUID
    is_user: bool = False
    is_admitted: bool = True
    is_open_to_individuals: bool = True
    plan: ServicePlan | None = None
    groups: list[dict[str, str]] | None = None
    roles: list[str] | None = None
    groups_as: GroupsAs = GroupsAs.OBJECTS
    security_profile: SecurityProfile | None = None
    token_signing: str = SignatureAlgorithm.RS256


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerPlace:
    """The context of a session.

    `role` is the user's role in the organization, `custom_permissions` what it allows if it is a custom role.
    `customer_id` names the customer for which the session acts at its service, and `customer` is what the user is
    there, None when it is not open to them.
    """

    organization_id: UUID | None = None
    organization_slug: str | None = None
    organization_status: str | None = None
    role: str | None = None
    custom_permissions: list[str] | None = None
    requires_mfa: bool = False
    mfa_methods: MfaMethods = MfaMethods.ANY
    service: CallerService | None = None
    customer_id: UUID | None = None
    customer: CustomerContext | None = None

    @property
    def service_id(self) -> UUID | None:
        """The id of the service."""
        return self.service.id if self.service is not None else None

    @property
    def service_slug(self) -> str | None:
        """The slug of the service."""
        return self.service.slug if self.service is not None else None

    @property
    def client_id(self) -> UUID | None:
        """The client id of the service, which is the audience of its tokens."""
        return self.service.client_id if self.service is not None else None

    @property
    def security_profile(self) -> SecurityProfile | None:
        """The security profile of the service."""
        return self.service.security_profile if self.service is not None else None

    @property
    def signature_algorithm(self) -> SignatureAlgorithm | None:
        """The algorithm that signs the tokens of the service; without one, None: the installation decides."""
        if self.service is None:
            return None
        return signature_algorithm(self.service.security_profile, self.service.token_signing)

    @property
    def plan(self) -> ServicePlan | None:
        """What the user may use of the service."""
        return self.service.plan if self.service is not None else None

    @property
    def groups_as(self) -> GroupsAs:
        """How the service reads the groups of its users."""
        return self.service.groups_as if self.service is not None else GroupsAs.NAMES

    @property
    def role_in_context(self) -> str | None:
        """The user's role in the organization of the session, or in the customer for which it acts."""
        return self.role if self.customer is None else self.customer.role

    @property
    def is_organization_active(self) -> bool:
        """Whether the organization is active; True without one."""
        return self.organization_status in {None, "active"}

    def require_active_organization(self) -> None:
        """Raise `OrganizationNotActive` when the organization is not active."""
        if not self.is_organization_active:
            raise OrganizationNotActive(Wording("This organization is %(status)s.", status=self.organization_status))

    @property
    def group_claims(self) -> dict[str, Any]:
        """The claims about the groups that the service learns of; none for a service that learns of none."""
        if self.customer is not None:
            groups = self.customer.groups
        else:
            groups = self.service.groups if self.service is not None else None
        if groups is None:
            return {}
        is_too_much = len(groups) > GROUPS_NAMED_MAX
        return {"groups_overage": True} if is_too_much else {"groups": told(groups, self.groups_as)}
