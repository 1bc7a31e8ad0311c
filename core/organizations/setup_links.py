"""Setup links: a customer's IT staff fill in chosen settings of an organization without an account.

A link carries a secret, is valid for up to 30 days, and can be revoked; one that a key of the organization made ends
with the key. Its pages exchange the secret for a cookie of that setup alone. What its holder may do with it is in
`link_callers.py`.

A new part is a `Part` of `link_callers.py` with the operations that it opens, a line of `AVAILABLE`, and one of `PARTS`
in `entrypoints/pages/organizations/setup.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from core.errors import BadRequest, Forbidden, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import link_callers
from core.organizations.access import Operation, capabilities_of, implied_by
from core.organizations.authority import Authority
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock, capabilities_of_role
from core.organizations.link_callers import LinkCaller, Part, may_make
from core.organizations.organizations import ADMIN, MEMBER
from core.secrets import Secret, hash_token
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")

DAYS_MAX: Final = 30
DAYS_BY_DEFAULT: Final = 7
LINKS_MAX: Final = 20


# The parts that have a page; a new part is added here, and its page to the pages of setup.
AVAILABLE: Final = (Part.SAML, Part.SCIM, Part.UPSTREAM, Part.DOMAIN, Part.SIEM, Part.GROUPS)


class SetupLinkUnknown(NotFound):
    """The organization has no such link."""

    default_message = "This organization has no such setup link."


class TooManySetupLinks(BadRequest):
    """The organization has the maximum number of valid links."""

    default_message = Wording(
        "An organization can have at most %(maximum)s valid setup links. Revoke one that is not in use.",
        maximum=LINKS_MAX,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupLink:
    """A link as members see it; nothing shows its secret again.

    `roles` are the roles that its group rules may give; an empty list stands for `member` alone.
    """

    id: UUID
    parts: list[str]
    service_slug: str | None
    roles: list[str]
    created_by: UUID
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    # The key of the organization that made it; None for one that a person made.
    made_by_key: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupLinkWithSecret:
    """A new link with its secret, which is shown only once."""

    link: SetupLink
    secret: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSetupLink:
    """A link with its maker: their address, and the role that they have now.

    Both are None when the maker is no member any more; the role also when the directory has deactivated them. For a
    link that a key made there are the key's name and permissions.
    """

    link: SetupLink
    maker_email: str | None
    maker_role: str | None
    key_name: str | None
    key_permissions: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSetupLink:
    """A valid link in the console; it is not usable, but dead, when its maker may not set all its parts."""

    link: SetupLink
    maker_email: str | None
    key_name: str | None
    is_usable: bool


class SetupState(StrEnum):
    """How far a part is."""

    NOT_BEGUN = "not_begun"
    SAVED = "saved"
    TESTED = "tested"
    IN_USE = "in_use"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartProgress:
    """What is known of a part: whether anything is saved, when a test succeeded, its last use, and since when it fails.

    A time is None where there was none. `is_set` says that the part is complete before any use: a connection is on, or
    a rule is saved.
    """

    part: str
    is_saved: bool
    is_set: bool = False
    tested_at: datetime | None = None
    used_at: datetime | None = None
    failing_since: datetime | None = None

    @property
    def state(self) -> SetupState:
        """How far the part is."""
        if not self.is_saved:
            return SetupState.NOT_BEGUN
        if self.failing_since is not None:
            return SetupState.FAILING
        if self.used_at is not None:
            return SetupState.IN_USE
        return SetupState.SAVED if self.tested_at is None else SetupState.TESTED

    @property
    def is_done(self) -> bool:
        """Whether the holder of the link has nothing more to do."""
        return self.state is SetupState.IN_USE or (self.is_set and self.failing_since is None)

    @property
    def at(self) -> datetime | None:
        """The time that belongs to the state; None where there is none."""
        times = {
            SetupState.FAILING: self.failing_since,
            SetupState.IN_USE: self.used_at,
            SetupState.TESTED: self.tested_at,
        }
        return times.get(self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSetup:
    """The holder of a link, and how far each part of it is, as every page of a setup shows them."""

    holder: LinkCaller
    progress: Mapping[Part, PartProgress]


def create(
    uow: UnitOfWork,
    slug: str,
    *,
    parts: Sequence[str],
    service_slug: str | None,
    roles: Sequence[str] = (),
    expires_in_days: int,
) -> SetupLinkWithSecret:
    """Make a link to parts that the caller may set.

    `service_slug` is the service of the part `saml`, and `roles` are what rules of the part `groups` may give. What is
    made with the link gives, changes and removes these and `member` alone. A link that a key makes is valid no longer
    than the key.
    """
    authorized = authorize_and_lock(uow, slug, Operation.SETUP_LINK_CREATE)
    wanted = _checked_parts(parts)
    for part in wanted:
        for capability in sorted(part.capabilities):
            authorized.require(capability)
    service_id = _service_id(uow, authorized, wanted, service_slug)
    _require_roles(uow, authorized, wanted, roles)
    if uow.setup_links.count(authorized.organization.id) >= LINKS_MAX:
        raise TooManySetupLinks
    secret = uow.randomness.token()
    key_id = authorized.caller.limits.key_id
    expires_at = uow.now + timedelta(days=expires_in_days)
    link = SetupLink(
        id=uow.randomness.new_id(),
        parts=[part.value for part in wanted],
        service_slug=service_slug,
        roles=list(dict.fromkeys(roles)),
        created_by=authorized.caller.maker_id,
        created_at=uow.now,
        expires_at=_within_key(uow, authorized.organization.id, key_id, expires_at),
        last_used_at=None,
        made_by_key=key_id,
    )
    uow.setup_links.add(
        authorized.organization.id, link, service_id=service_id, secret_hash=hash_token(secret.reveal())
    )
    _record(uow, authorized.organization.id, link, "created")
    return SetupLinkWithSecret(link=link, secret=secret)


def list_all(uow: UnitOfWork, slug: str) -> Sequence[SetupLink]:
    """List the valid links of an organization, the newest first."""
    organization = authorize(uow, slug, Operation.SETUP_LINKS_READ).organization
    return uow.setup_links.of_organization(organization.id)


def list_with_makers(uow: UnitOfWork, slug: str) -> Sequence[ListedSetupLink]:
    """List the valid links with the addresses of their makers, and whether they can be used, the newest first."""
    organization = authorize(uow, slug, Operation.SETUP_LINKS_READ).organization
    made = uow.setup_links.with_makers(organization.id)
    named = [role for one in made for role in (one.maker_role, *one.link.roles) if role is not None]
    allowed = {role: capabilities_of_role(uow, organization.id, role) for role in dict.fromkeys(named)}
    return [
        ListedSetupLink(
            link=one.link,
            maker_email=one.maker_email,
            key_name=one.key_name,
            is_usable=(
                one.maker_role is not None
                and may_make(one.maker_role, map(Part, one.link.parts), one.link.roles, allowed, one.key_permissions)
            ),
        )
        for one in made
    ]


def roles_to_give(uow: UnitOfWork, slug: str) -> Sequence[str]:
    """Return the roles that rules of groups may give by a link of the caller."""
    authorized = authorize(uow, slug, Operation.SETUP_LINKS_READ)
    maker = Authority.of_caller(authorized)
    custom = uow.roles.of_organization(authorized.organization.id)
    allowed = {role: capabilities_of(role, None) for role in (ADMIN, MEMBER)}
    allowed |= {role.slug: implied_by(role.permissions) for role in custom}
    return [role for role, allowed_by_role in allowed.items() if maker.may_give(role, allowed_by_role)]


def show_with_maker(uow: UnitOfWork, slug: str, link_id: UUID) -> ListedSetupLink:
    """Return a valid link as `list_with_makers` does, before it is revoked; raise `SetupLinkUnknown` without one."""
    authorize(uow, slug, Operation.SETUP_LINKS_CHANGE)
    found = next((one for one in list_with_makers(uow, slug) if one.link.id == link_id), None)
    if found is None:
        raise SetupLinkUnknown
    return found


def revoke(uow: UnitOfWork, slug: str, link_id: UUID) -> None:
    """End a link at once."""
    authorized = authorize(uow, slug, Operation.SETUP_LINKS_CHANGE)
    link = uow.setup_links.remove(authorized.organization.id, link_id)
    if link is None:
        raise SetupLinkUnknown
    _record(uow, authorized.organization.id, link, "revoked")


def end_of_maker(uow: UnitOfWork, user_id: UUID, *, reason: str) -> None:
    """End all links that a user has made, whose account cannot be used any more."""
    organization_ids = uow.members.all_organizations_of(user_id)
    for organization_id, link in uow.setup_links.remove_of_maker(organization_ids, user_id):
        _record(uow, organization_id, link, "revoked", reason=reason)


def inspect(uow: UnitOfWork, secret: str) -> LinkCaller:
    """Return what a link is for, without using it; raise `SetupLinkDead`."""
    return link_callers.identify(uow.setup_links.caller_by_secret(hash_token(secret)))


def enter(uow: UnitOfWork, secret: str) -> Secret:
    """Exchange the secret of a link for one that a cookie keeps; raise `SetupLinkDead`."""
    setup = inspect(uow, secret)
    cookie = uow.randomness.token()
    uow.setup_links.add_visit(setup.organization.id, setup.link_id, secret_hash=hash_token(cookie.reveal()))
    return cookie


def progress(uow: UnitOfWork) -> OpenedSetup:
    """Return the holder of a link, and how far each of its parts is, in their order; raise `SetupLinkDead`."""
    holder = uow.link_caller
    known = {one.part: one for one in uow.setup_links.progress(holder.organization.id, holder.service_id)}
    return OpenedSetup(holder=holder, progress={part: known[part.value] for part in holder.parts})


def read(
    uow: UnitOfWork,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[OpenedSetup, Found]:
    """Return the setup of a link that opens an operation, and the result of the use case of a page."""
    holder = link_callers.present(uow, operation)
    found = use_case(uow, holder.organization.slug, *args, **kwargs)
    return progress(uow), found


def _checked_parts(words: Sequence[str]) -> Sequence[Part]:
    names = [part.value for part in AVAILABLE]
    if not words or not set(words) <= set(names):
        raise BadRequest.of_field(
            "parts", Wording("Name at least one of these parts: %(names)s.", names=", ".join(names))
        )
    return [part for part in AVAILABLE if part.value in words]


def _within_key(uow: UnitOfWork, organization_id: UUID, key_id: UUID | None, expires_at: datetime) -> datetime:
    """Return when a link that a key makes ends: with the key, if that is earlier."""
    keys = uow.organization_keys.of_organization(organization_id) if key_id is not None else ()
    ends = [one.expires_at for one in keys if one.id == key_id and one.expires_at is not None]
    return min([expires_at, *ends])


def _service_id(
    uow: UnitOfWork, authorized: OrganizationAccess, parts: Sequence[Part], service_slug: str | None
) -> UUID | None:
    """Return the id of the service that the part `saml` is for; None for a link without that part."""
    if (Part.SAML in parts) != (service_slug is not None):
        raise BadRequest.of_field("service_slug", "Name a service with the part saml, and only with it.")
    if service_slug is None:
        return None
    service = uow.services.by_slug(authorized.organization.id, service_slug)
    if service is None:
        raise BadRequest.of_field("service_slug", "This organization has no service with that slug.")
    return service.id


def _require_roles(
    uow: UnitOfWork, authorized: OrganizationAccess, parts: Sequence[Part], roles: Sequence[str]
) -> None:
    """Raise `BadRequest` for roles that rules cannot give, and `Forbidden` for roles that the caller may not give."""
    if not roles:
        return
    if Part.GROUPS not in parts:
        raise BadRequest.of_field("roles", "Name roles only with the part groups, whose rules may give them.")
    organization_id = authorized.organization.id
    known = {ADMIN, MEMBER, *(role.slug for role in uow.roles.of_organization(organization_id))}
    if not known.issuperset(roles):
        raise BadRequest.of_field("roles", "Each must be admin, member, or the slug of a role of this organization.")
    maker = Authority.of_caller(authorized)
    for role in dict.fromkeys(roles):
        if not maker.may_give(role, capabilities_of_role(uow, organization_id, role)):
            raise Forbidden(
                Wording(
                    "You may not give the role %(role)s, because it allows more than yours. Ask an owner.", role=role
                )
            )


def _record(uow: UnitOfWork, organization_id: UUID, link: SetupLink, what: str, **details: Any) -> None:
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        setup_link={
            "id": str(link.id),
            "parts": link.parts,
            "action": what,
            **({"roles": link.roles} if link.roles else {}),
        },
        **details,
    )
