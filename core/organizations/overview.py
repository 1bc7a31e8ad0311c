"""The overview of an organization: what needs a person, what is set up, and the latest sign-ins.

What needs a person fails, ends, runs out or waits, and has a page that mends it. Each kind has the operation of that
page, and a role sees only the kinds whose pages it may open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, allows_no_less
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.members import MEMBERS_MAX_DEFAULT

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# So many of a kind are read; more show once these are mended.
OF_KIND_MAX: Final = 10
# Failed deliveries count for so long.
LOST_WITHIN: Final = timedelta(days=1)
# A stream that is this far behind lags, also when its receiver refuses nothing.
LAG: Final = timedelta(hours=1)
# Invitations that ended without an answer count for so long.
EXPIRED_WITHIN: Final = timedelta(days=7)
# Seats are almost used from this part on.
SEATS_PERCENT: Final = 90


class AttentionKind(StrEnum):
    """What needs a person, the most urgent kind first."""

    MAIL_SERVER_FAILING = "mail_server_failing"
    DOMAIN_FAILING = "domain_failing"
    CONNECTION_OFF = "connection_off"
    CONNECTION_FAILING = "connection_failing"
    MAIL_DOMAIN_FAILING = "mail_domain_failing"
    WEBHOOK_OFF = "webhook_off"
    WEBHOOK_LOSING = "webhook_losing"
    SIEM_OFF = "siem_off"
    SIEM_FAILING = "siem_failing"
    SIEM_LAGGING = "siem_lagging"
    CONNECTION_KEY_ENDING = "connection_key_ending"
    CONNECTION_METADATA_ENDING = "connection_metadata_ending"
    SAML_CERTIFICATE_ENDING = "saml_certificate_ending"
    OWNER_WITHOUT_SECOND_FACTOR = "owner_without_second_factor"
    SEATS_USED = "seats_used"
    PRODUCT_OFFERED = "product_offered"
    INVITATIONS_EXPIRED = "invitations_expired"
    WEBHOOK_RETRYING = "webhook_retrying"


# The operation of the page that mends each kind.
MENDED_BY: Final[Mapping[AttentionKind, Operation]] = {
    AttentionKind.MAIL_SERVER_FAILING: Operation.MAIL_SERVER_READ,
    AttentionKind.DOMAIN_FAILING: Operation.DOMAIN_READ,
    AttentionKind.CONNECTION_OFF: Operation.CONNECTIONS_READ,
    AttentionKind.CONNECTION_FAILING: Operation.CONNECTIONS_READ,
    AttentionKind.MAIL_DOMAIN_FAILING: Operation.DOMAIN_ROUTES_READ,
    AttentionKind.WEBHOOK_OFF: Operation.WEBHOOKS_READ,
    AttentionKind.WEBHOOK_LOSING: Operation.WEBHOOKS_READ,
    AttentionKind.SIEM_OFF: Operation.SIEM_READ,
    AttentionKind.SIEM_FAILING: Operation.SIEM_READ,
    AttentionKind.SIEM_LAGGING: Operation.SIEM_READ,
    AttentionKind.CONNECTION_KEY_ENDING: Operation.CONNECTIONS_READ,
    AttentionKind.CONNECTION_METADATA_ENDING: Operation.CONNECTIONS_READ,
    AttentionKind.SAML_CERTIFICATE_ENDING: Operation.SAML_CHANGE,
    AttentionKind.OWNER_WITHOUT_SECOND_FACTOR: Operation.OWNERSHIP_TRANSFER,
    AttentionKind.SEATS_USED: Operation.INVITATIONS_CHANGE,
    AttentionKind.PRODUCT_OFFERED: Operation.PRODUCT_ACCEPT,
    AttentionKind.INVITATIONS_EXPIRED: Operation.INVITATIONS_LIST,
    AttentionKind.WEBHOOK_RETRYING: Operation.WEBHOOKS_READ,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionItem:
    """Something that needs a person.

    `at` is when it began, or when it ends. `target` is the id, slug or client id of its subject, where an organization
    has several. `number` of `maximum` are used.
    """

    kind: AttentionKind
    at: datetime | None = None
    name: str | None = None
    target: str | None = None
    number: int | None = None
    maximum: int | None = None


def list_for(uow: UnitOfWork, authorized: OrganizationAccess) -> Sequence[AttentionItem] | None:
    """Return the items that the reader may mend, the most urgent first; None for a role that mends nothing."""
    role, capabilities = authorized.membership.role, authorized.capabilities
    kinds = [kind for kind, operation in MENDED_BY.items() if operation.missing(role, capabilities) is None]
    if not kinds:
        return None
    organization_id: UUID = authorized.organization.id
    found = uow.overviews.attention_items(
        organization_id, kinds, default_seats=MEMBERS_MAX_DEFAULT, of_kind_max=OF_KIND_MAX
    )
    order = list(AttentionKind)
    # That a webhook lost deliveries says more than that it tries others again.
    losing = {one.target for one in found if one.kind is AttentionKind.WEBHOOK_LOSING}
    needing = [one for one in found if one.kind is not AttentionKind.WEBHOOK_RETRYING or one.target not in losing]
    return sorted(needing, key=lambda one: order.index(one.kind))


SignIns = TypeVar("SignIns")
PERIOD: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSteps:
    """What is set up; `has_second_factor` concerns the account of the reader."""

    has_service: bool
    has_colleague: bool
    has_provider: bool
    has_domain: bool
    has_webhook: bool
    has_second_factor: bool

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to set up."""
        return all(
            (
                self.has_service,
                self.has_colleague,
                self.has_provider,
                self.has_domain,
                self.has_webhook,
                self.has_second_factor,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Generic[SignIns]):
    """What the overview shows; None where the reader's role does not see it, or the organization is not active.

    `is_new` means that the steps are not complete, and come first.
    """

    steps: SetupSteps | None
    is_new: bool
    sign_ins: SignIns | None
    attention_items: Sequence[AttentionItem] | None


def show(uow: UnitOfWork, slug: str, read_sign_ins: Callable[[UnitOfWork, UUID, int], SignIns]) -> Overview[SignIns]:
    """Return the overview of an organization, with any status.

    `read_sign_ins` reads the sign-ins of its last days for a reader who may see them (`core/audit/sign_in_counts.py`).
    """
    authorized = authorize(uow, slug, Operation.ORGANIZATION_READ)
    organization = authorized.organization
    organization_id: UUID = organization.id
    is_active = organization.is_active
    sees_sign_ins = is_active and Capability.ANALYTICS_VIEW in authorized.capabilities
    # A reader with no more than the views of a member can set up nothing.
    sets_up = is_active and not allows_no_less(frozenset(), authorized.capabilities)
    steps = uow.overviews.steps(organization_id, authorized.membership.user_id) if sets_up else None
    return Overview(
        steps=steps,
        is_new=steps is not None and not steps.is_complete and organization.created_at > uow.now - PERIOD,
        sign_ins=read_sign_ins(uow, organization_id, PERIOD.days) if sees_sign_ins else None,
        attention_items=list_for(uow, authorized) if is_active else None,
    )
