"""Holders of setup links as callers: what a link opens for them (ops/decisions/0097).

A link acts for the member who made it, as a key does (`key_callers.py`), and opens the operations of its parts alone.
A link that a key made acts within the capabilities of the key, and ends with it. A link is dead as soon as its maker
may not set one of these parts, or may not give one of its roles. Its holder has no account: the pages exchange the
secret of a link for a cookie of that setup, and log entries have the id of the link. Use cases state themselves what
they refuse to such a caller. Making links is in `setup_links.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, capabilities_of, implied_by
from core.organizations.authority import Authority
from core.organizations.authorization import AccessContext, OrganizationAccess
from core.organizations.organizations import MEMBER, Membership, Organization
from core.secrets import hash_token
from core.sessions.callers import Caller
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Part(Enum):
    """A part of the settings: its name in the interface, the operation whose capabilities it takes, and others."""

    SAML = (
        "saml",
        Operation.SAML_CERTIFICATE_CREATE,
        Operation.SAML_READ,
        Operation.SAML_CHANGE,
        Operation.SAML_REMOVE,
    )
    SCIM = (
        "scim",
        Operation.SCIM_TOKEN_CREATE,
        Operation.SCIM_TOKENS_READ,
        Operation.SCIM_TOKENS_CHANGE,
        Operation.SCIM_LOG_READ,
    )
    UPSTREAM = (
        "upstream",
        Operation.CONNECTION_CONFIGURE,
        Operation.CONNECTIONS_READ,
        Operation.CONNECTIONS_CHANGE,
        Operation.DOMAIN_ROUTES_READ,
        Operation.DOMAIN_ROUTES_CHANGE,
    )
    DOMAIN = ("domain", Operation.DOMAIN_CHANGE, Operation.DOMAIN_READ)
    SIEM = ("siem", Operation.SIEM_CONFIGURE, Operation.SIEM_READ, Operation.SIEM_CHANGE)
    GROUPS = ("groups", Operation.GROUP_RULES_CHANGE, Operation.GROUPS_READ)
    # Only for links that a vendor makes for a customer; elsewhere mail domains belong to the part of the connection.
    MAIL_DOMAIN = (
        "mail_domain",
        Operation.DOMAIN_ROUTES_CHANGE,
        Operation.DOMAIN_ROUTES_READ,
        Operation.CONNECTIONS_READ,
    )

    capabilities: frozenset[Capability]
    operations: frozenset[Operation]

    def __new__(cls, value: str, operation: Operation, *others: Operation) -> Part:
        """Create a part; its value is its name in the interface."""
        member = object.__new__(cls)
        member._value_ = value
        member.capabilities = operation.capabilities
        member.operations = frozenset({operation, *others})
        return member


# The parts that a vendor sets up for a customer, and what each opens there; mail domains are a part of their own.
CUSTOMER_PARTS: Final = PartialTable(
    {
        Part.UPSTREAM: Part.UPSTREAM.operations - {Operation.DOMAIN_ROUTES_CHANGE},
        Part.MAIL_DOMAIN: Part.MAIL_DOMAIN.operations,
        Part.SCIM: Part.SCIM.operations,
        # Roles of the service, and none of an organization.
        Part.GROUPS: frozenset({Operation.CUSTOMER_SETUP, Operation.CUSTOMER_SETUP_READ}),
    }
)


def opened_for_customer(part: Part) -> frozenset[Operation]:
    """Return the operations of a part that a vendor sets up for a customer; none for any other part."""
    return CUSTOMER_PARTS.get(part, frozenset[Operation]())


class SetupLinkDead(NotFound):
    """The link is unknown, expired or revoked, or its maker may not set these parts any more."""

    default_message = "This setup link is no longer valid. Ask the person who sent it to you for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupVisit:
    """The cookie of a browser that has opened a setup link; empty without one."""

    cookie: str = field(repr=False)

    @property
    def prefix(self) -> str:
        """What the log calls the caller: nothing."""
        return ""

    @property
    def token_hash(self) -> bytes:
        """What is stored of the cookie."""
        return hash_token(self.cookie)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor:
    """The customer of a link that a vendor made; `organization` of its holder is the customer's internal organization.

    `is_allowed` says whether the maker, a member or a valid key of the service, may set the customer up now. After each
    part the pages lead back to `return_url`, if there is one; `reported_actor` is the user of the link, as the vendor
    reports it.
    """

    customer_id: UUID
    vendor_id: UUID
    vendor_name: str
    customer_name: str
    service_name: str
    return_url: str | None
    reported_actor: str | None
    is_allowed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCaller:
    """The holder of a setup link: what the link names, its organization, and its maker as a member of it.

    `made_for` is the customer of a link that a vendor made, whose name `organization` has then; None for a link that an
    organization made for itself. `maker` is the caller of use cases, and names the link. `custom_permissions` are the
    permissions of the maker's custom role, `given_permissions` of the custom roles that the link names, and
    `key_permissions` of the key that made the link, None for a link that a member made.
    """

    link_id: UUID
    parts: Sequence[Part]
    roles: Sequence[str]
    service_id: UUID | None
    service_slug: str | None
    expires_at: datetime
    organization: Organization
    membership: Membership
    custom_permissions: list[str] | None
    given_permissions: Mapping[str, Sequence[str]]
    key_permissions: Sequence[str] | None
    maker: Caller
    made_for: MadeFor | None = None

    @property
    def branded_id(self) -> UUID:
        """The organization whose brand the pages wear: the vendor's, for a customer."""
        return self.organization.id if self.made_for is None else self.made_for.vendor_id

    @property
    def given_roles(self) -> Sequence[str]:
        """The roles that group rules made with the link may give: `member` alone where it names none."""
        return self.roles or (MEMBER,)

    @property
    def is_usable(self) -> bool:
        """Whether the maker of the link may set its parts and give its roles."""
        if self.made_for is not None:
            return self.made_for.is_allowed
        role = self.membership.role
        allowed = {named: capabilities_of(named, self.given_permissions.get(named)) for named in self.roles}
        allowed[role] = capabilities_of(role, self.custom_permissions)
        return may_make(role, self.parts, self.roles, allowed, self.key_permissions)

    def context(self, slug: str) -> AccessContext:
        """Return what `authorize` decides from; no organization for the slug of another one than the link's."""
        return AccessContext(
            caller=self.maker,
            organization=self.organization if slug == self.organization.slug else None,
            membership=self.membership,
            custom_permissions=self.custom_permissions,
            is_unconfirmed=False,
            narrowed=self.narrowed,
        )

    def narrowed(self, _uow: UnitOfWork, maker: OrganizationAccess, operation: Operation) -> OrganizationAccess:
        """Return the access of the maker to an operation of the parts, with no capability that the key lacks.

        Raise `SetupLinkDead` for any other operation.
        """
        self.require(operation)
        return replace(maker, capabilities=_within(maker.capabilities, self.key_permissions))

    def require(self, operation: Operation) -> None:
        """Raise `SetupLinkDead` unless a part of the link opens an operation."""
        opened = (part.operations if self.made_for is None else opened_for_customer(part) for part in self.parts)
        if not any(operation in operations for operations in opened):
            raise SetupLinkDead


def may_make(
    role: str,
    parts: Iterable[Part],
    roles: Iterable[str],
    allowed: Mapping[str, frozenset[Capability]],
    key_permissions: Iterable[str] | None,
) -> bool:
    """Return whether a member with a role may set these parts and give these roles; `allowed` is what each allows.

    With `key_permissions`, a key with these permissions acts for the member.
    """
    held = _within(allowed[role], key_permissions)
    maker = Authority.of(role, held) if key_permissions is None else Authority.of_key(held)
    may_set = all(part.capabilities <= held for part in parts)
    return may_set and all(maker.may_give(given, allowed[given]) for given in roles)


def _within(capabilities: frozenset[Capability], key_permissions: Iterable[str] | None) -> frozenset[Capability]:
    return capabilities if key_permissions is None else capabilities & implied_by(key_permissions)


def identify(found: LinkCaller | None) -> LinkCaller:
    """Return the holder of a link that was looked up; raise `SetupLinkDead` for None and for a dead link."""
    if found is None or not found.is_usable:
        raise SetupLinkDead
    return found


def serve(
    uow: UnitOfWork,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """Run a use case for the holder of a link, in the organization of the link; raise `SetupLinkDead`."""
    return use_case(uow, uow.link_caller.organization.slug, *args, **kwargs)


def on_service(
    uow: UnitOfWork,
    slug: str,
    use_case: Callable[Concatenate[UnitOfWork, str, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """Run a use case on the service of the link; raise `SetupLinkDead` for a link without one."""
    service_slug = uow.link_caller.service_slug
    if service_slug is None:
        raise SetupLinkDead
    return use_case(uow, slug, service_slug, *args, **kwargs)


def present(uow: UnitOfWork, operation: Operation | None = None) -> LinkCaller:
    """Return the holder of a link; raise `SetupLinkDead`, also for a link that does not open the operation."""
    caller = uow.link_caller
    if operation is not None:
        caller.require(operation)
    return caller
