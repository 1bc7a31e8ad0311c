"""Services, the applications of an organization: the entity, its settings for customers, and the rules for its fields.

What members do with services is in `management.py`, access to one in `service_access.py`, redirect URIs in
`redirect_uris.py`. The customers themselves are in `core/customers/`, the customer of a session in
`core/sessions/customer_contexts.py`, and who may sign in for a customer in `core/sign_in/customer_choices.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final, cast
from uuid import UUID

from core.errors import BadRequest, NotFound, all_valid
from core.lazy_dataclasses import dataclass
from core.services import client_records, own_claims, redirect_uris
from core.services.client_records import Outside
from core.services.own_claims import SCOPE_CHARACTERS_MAX, SCOPES_MAX, ServiceScope, is_scope
from core.sessions import security_profiles
from core.sessions.claim_sources import OwnClaim
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm
from core.text import checked_name
from core.wording import Wording

ROLES_MAX: Final = 50
# Of the id or slug that names a customer.
CUSTOMER_CHARACTERS_MAX: Final = 100
DESCRIPTION_CHARACTERS_MAX: Final = 500
_ROLE_NAME: Final = re.compile(r"[a-z0-9_.-]{1,50}")


class CustomerPolicy(StrEnum):
    """Which organizations may use a service: none, those that it lists, or any."""

    NONE = "none"
    LISTED = "listed"
    ANY = "any"


class Individuals(StrEnum):
    """Who may use a service without a customer: no person, people of none of its customers, or everyone."""

    NONE = "none"
    OTHERS = "others"
    ALL = "all"


class Admission(StrEnum):
    """Who may sign in to a service without a customer: everyone, active members, or members that an assignment fits."""

    EVERYONE = "everyone"
    MEMBERS = "members"
    ASSIGNED = "assigned"

    def lets_in_more_than(self, other: Admission) -> bool:
        """Return whether it admits people that the other one does not."""
        return _FROM_OPEN.index(self) < _FROM_OPEN.index(other)


_FROM_OPEN: Final = (Admission.EVERYONE, Admission.MEMBERS, Admission.ASSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRole:
    """A role of the service itself, which its organization and its customers assign to their people."""

    name: str
    title: str
    description: str = ""
    # Scopes of services of the organization that this role gives.
    scopes: list[str] = field(default_factory=list[str])


def individuals_by_default(customers: CustomerPolicy) -> Individuals:
    """Return who may use a service without a customer if the service does not set it."""
    return Individuals.ALL if customers is CustomerPolicy.NONE else Individuals.OTHERS


def require_roles(roles: Sequence[ServiceRole]) -> None:
    """Raise `BadRequest` for roles that a service cannot have."""
    if len(roles) > ROLES_MAX:
        raise BadRequest.of_field("roles", Wording("At most %(maximum)s roles.", maximum=ROLES_MAX))
    if len({role.name for role in roles}) < len(roles):
        raise BadRequest.of_field("roles", "Each role has a name of its own.")
    for role in roles:
        _require_role(role)


def require_policy(customers: CustomerPolicy, individuals: Individuals) -> None:
    """Raise `BadRequest` for a service that limits individuals without having customers."""
    if customers is CustomerPolicy.NONE and individuals is not Individuals.ALL:
        raise BadRequest.of_field(
            "individuals", "Only a service with customers can limit use without a customer. Set access instead."
        )


def _require_role(role: ServiceRole) -> None:
    if not _ROLE_NAME.fullmatch(role.name):
        raise BadRequest.of_field(
            "roles", "The name of a role has 1 to 50 of the characters a to z, 0 to 9, the dot, the dash and _."
        )
    checked_name(role.title, characters_min=1, field="roles")
    if len(role.description) > DESCRIPTION_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "roles",
            Wording(
                "The description of a role has at most %(maximum)s characters.", maximum=DESCRIPTION_CHARACTERS_MAX
            ),
        )


# Addresses of the service's own pages.
_PAGES: Final = ("device_activation_uri", "frontchannel_logout_uri", "initiate_login_uri")
# Left out of `changes`, because every change sets it.
_UPDATED_AT: Final = "updated_at"


class ServiceUnknown(NotFound):
    """The organization has no service with that slug."""

    default_message = "This organization has no such service."


class ServiceType(StrEnum):
    """A kind of application; `web` and `api` can keep a secret."""

    WEB = "web"
    API = "api"
    MOBILE = "mobile"
    DESKTOP = "desktop"

    @property
    def is_confidential(self) -> bool:
        """Whether such an application can keep a secret."""
        return self in {ServiceType.WEB, ServiceType.API}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFields:
    """What an organization sets for a service. A scope list of None means the provider's default scopes."""

    slug: str
    name: str
    service_type: ServiceType
    codehost_scopes: list[str] | None = None
    websuite_scopes: list[str] | None = None
    officesuite_scopes: list[str] | None = None
    redirect_uris: list[str] = field(default_factory=list)
    device_activation_uri: str | None = None
    post_logout_redirect_uris: list[str] = field(default_factory=list)
    backchannel_logout_uri: str | None = None
    frontchannel_logout_uri: str | None = None
    jwks_uri: str | None = None
    jwks: dict[str, list[dict[str, Any]]] | None = None
    audiences: list[str] = field(default_factory=list)
    group_claims: list[str] = field(default_factory=list)
    groups_as: GroupsAs = GroupsAs.NAMES
    security_profile: SecurityProfile | None = None
    token_signing: SignatureAlgorithm = SignatureAlgorithm.RS256
    customers: CustomerPolicy = CustomerPolicy.NONE
    individuals: Individuals | None = None
    access: Admission = Admission.EVERYONE
    roles: list[ServiceRole] = field(default_factory=list)
    initiate_login_uri: str | None = None
    scopes: list[ServiceScope] = field(default_factory=list)
    machine_scopes: list[str] = field(default_factory=list)
    claims: list[OwnClaim] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(ServiceFields):
    """An application that users sign in to. Its slug never changes."""

    id: UUID
    organization_id: UUID
    client_id: UUID
    individuals: Individuals = Individuals.ALL
    # Until when the previous secret stays valid; None where none was kept.
    previous_secret_expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def serves_customers(self) -> bool:
        """Whether organizations may use it as customers."""
        return self.customers is not CustomerPolicy.NONE

    @property
    def scope_names(self) -> list[str]:
        """The names of the scopes of its own."""
        return [scope.name for scope in self.scopes]

    @property
    def version(self) -> str:
        """The version of the service, so that a form sees whether it is still as its page has shown it."""
        return self.updated_at.isoformat()

    @property
    def has_client_secret(self) -> bool:
        """Whether it authenticates by a secret."""
        return security_profiles.has_client_secret(
            self.security_profile, is_confidential=self.service_type.is_confidential
        )

    @property
    def signature_algorithm(self) -> SignatureAlgorithm:
        """The algorithm that signs its tokens."""
        return security_profiles.signature_algorithm(self.security_profile, self.token_signing)

    @property
    def named(self) -> dict[str, Any]:
        """The details that name it in an audit entry."""
        return {
            "service_slug": self.slug,
            "service_name": self.name,
            "service_type": self.service_type,
            "client_id": str(self.client_id),
        }

    def changes(self, before: Service) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            field.name: {"from": _shown(getattr(before, field.name)), "to": _shown(getattr(self, field.name))}
            for field in fields(self)
            if field.name != _UPDATED_AT and getattr(before, field.name) != getattr(self, field.name)
        }

    def has_registered(self, address: str, *, among: Sequence[str]) -> bool:
        """Return whether an address is registered; a `desktop` service may use any port of loopback."""
        is_desktop = self.service_type is ServiceType.DESKTOP
        return any(redirect_uris.matches(one, address, any_loopback_port=is_desktop) for one in among)

    def require_valid_uris(self, outside: Outside) -> None:
        """Raise `BadRequest` for addresses and a key set that a service of this type may not have."""
        is_native = not self.service_type.is_confidential
        pages = {name: getattr(self, name) for name in _PAGES}
        all_valid(
            lambda: require_roles(self.roles),
            lambda: require_policy(self.customers, self.individuals),
            lambda: own_claims.require_groups(self.group_claims),
            lambda: own_claims.require_scopes(self.scopes, self.machine_scopes),
            lambda: own_claims.require_claims(self.claims, self.group_claims),
            lambda: redirect_uris.require_valid(self.redirect_uris, is_native=is_native),
            lambda: redirect_uris.require_valid(
                self.post_logout_redirect_uris, is_native=is_native, field="post_logout_redirect_uris"
            ),
            *(partial(redirect_uris.require_web_uri, uri, name) for name, uri in pages.items() if uri is not None),
            lambda: client_records.require_valid(
                outside,
                audiences=self.audiences,
                backchannel_logout_uri=self.backchannel_logout_uri,
                jwks_uri=self.jwks_uri,
                jwks=self.jwks,
            ),
        )
        security_profiles.require_record(
            self.security_profile,
            is_confidential=self.service_type.is_confidential,
            redirect_uris=self.redirect_uris,
            jwks_uri=self.jwks_uri,
            jwks=self.jwks,
            allows_loopback=outside.allows_loopback,
        )


def _shown(value: Any) -> Any:
    """Return the value of a field in the form of an audit entry."""
    if not isinstance(value, list):
        return value
    return [
        asdict(one) if is_dataclass(one) and not isinstance(one, type) else one for one in cast("list[object]", value)
    ]


def checked_scopes(scopes: Iterable[str] | None, field: str) -> list[str] | None:
    """Return the scopes, each once; raise `BadRequest` for the field when one of them is no scope."""
    if scopes is None:
        return None
    unique = list(dict.fromkeys(scopes))
    if len(unique) > SCOPES_MAX:
        raise BadRequest.of_field(field, Wording("At most %(maximum)s scopes.", maximum=SCOPES_MAX))
    if not all(map(is_scope, unique)):
        raise BadRequest.of_field(
            field,
            Wording(
                "A scope has 1 to %(maximum)s characters, without blanks, quotes and backslashes.",
                maximum=SCOPE_CHARACTERS_MAX,
            ),
        )
    return unique
