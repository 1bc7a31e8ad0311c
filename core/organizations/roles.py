"""Custom roles: sets of capabilities that an organization defines.

The roles owner, admin and member are built in: they are listed with the others and never change. `members.py` assigns
roles to members. A caller adds to a role, and removes from it, only capabilities that they have themselves.

A scope that any role lists is given by roles alone. Who has which is in `core/sessions/token_additions.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, Forbidden, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations import access, group_roles, inviters
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.organizations import ADMIN, BUILT_IN_ROLES, MEMBER, OWNER
from core.text import checked_name, checked_slug
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LISTED_MAX: Final = 100


def checked_scopes(
    uow: UnitOfWork,
    organization_id: UUID,
    names: Iterable[str],
    *,
    field: str,
    before: Iterable[str] = (),
    beside: Collection[str] = (),
) -> list[str]:
    """Return the scopes that a role is to list, each once.

    Raise `BadRequest` for too many, and for one that no service of the organization has. A scope that the role listed
    `before` may be gone, and gives nothing; `beside` are scopes that are stored at the same time.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) > LISTED_MAX:
        raise BadRequest.of_field(field, Wording("A role lists at most %(maximum)s scopes.", maximum=LISTED_MAX))
    new = set(unique).difference(before, beside)
    unknown = uow.services.unknown_scope(organization_id, sorted(new)) if new else None
    if unknown is not None:
        raise BadRequest.of_field(
            field, Wording("No service of your organization has the scope %(scope)s.", scope=unknown)
        )
    return unique


# Enough for any organization, and few enough to be listed without pages.
ROLES_MAX: Final = 100
DESCRIPTION_CHARACTERS_MAX: Final = 500


class RoleUnknown(NotFound):
    """The organization has no role of that slug."""

    default_message = "This organization has no such role."


class RoleBuiltIn(BadRequest):
    """The built-in roles owner, admin and member cannot be changed."""

    default_message = "The built-in roles cannot be changed or deleted. Create a custom role instead."


class RoleTaken(Conflict):
    """The slug belongs to another role."""

    default_message = "A role with this slug already exists. Choose another slug."


class RoleChanged(Conflict):
    """Another person has changed the role since the caller saw it."""

    default_message = (
        "Another person has changed this role meanwhile. Check what is shown now, and send the form again if you still"
        " want it."
    )


class RoleInUse(Conflict):
    """Members or pending invitations have the role, or a rule gives it."""

    default_message = (
        "Members or pending invitations have this role, or a rule gives it to a group."
        " Change the members' roles, revoke the invitations and remove the rules before you delete it."
    )


class TooManyRoles(BadRequest):
    """The organization has the maximum number of custom roles."""

    default_message = Wording(
        "An organization can have at most %(maximum)s custom roles. Delete one that is not in use.", maximum=ROLES_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A named set of capabilities; the times of a built-in role are null."""

    slug: str
    name: str
    description: str
    permissions: list[Capability]
    # Of services of the organization. A scope that any role lists is given by roles alone; owners and admins have all.
    scopes: list[str]
    is_built_in: bool
    created_at: datetime | None
    updated_at: datetime | None


def _built_in(slug: str, description: str) -> Role:
    return Role(
        slug=slug,
        name=slug.title(),
        description=description,
        permissions=_sorted(access.capabilities_of(slug, None)),
        scopes=[],
        is_built_in=True,
        created_at=None,
        updated_at=None,
    )


def _sorted(permissions: Iterable[Capability]) -> list[Capability]:
    """Return the capabilities in the order of their declaration, each once."""
    given = set(permissions)
    return [capability for capability in Capability if capability in given]


_BUILT_IN: Final = {
    role.slug: role
    for role in (
        _built_in(OWNER, "Full control, including transferring the ownership and deleting the organization."),
        _built_in(ADMIN, "Manages members, services and settings."),
        _built_in(MEMBER, "Sees the organization and uses its services."),
    )
}


assert tuple(_BUILT_IN) == BUILT_IN_ROLES, "a built-in role has no description, or the order differs"


def list_all(uow: UnitOfWork, slug: str) -> Sequence[Role]:
    """List the built-in roles, then the custom roles by slug."""
    authorized = authorize(uow, slug, Operation.ROLES_READ)
    return [*_BUILT_IN.values(), *uow.roles.of_organization(authorized.organization.id)]


def show(uow: UnitOfWork, slug: str, role_slug: str) -> Role:
    """Return a role; raise `RoleUnknown` when the organization has none with that slug."""
    authorized = authorize(uow, slug, Operation.ROLES_READ)
    return _BUILT_IN.get(role_slug) or _custom(uow, authorized, role_slug)


def create(
    uow: UnitOfWork,
    slug: str,
    *,
    role_slug: str,
    name: str,
    description: str,
    permissions: Iterable[Capability],
    scopes: Iterable[str] = (),
) -> Role:
    """Create a role; the caller must have every capability of it."""
    authorized = authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    role_slug, name, description, listed = all_valid(
        lambda: checked_slug(role_slug),
        lambda: checked_name(name, characters_min=1),
        lambda: _checked_description(description),
        lambda: checked_scopes(uow, authorized.organization.id, scopes, field="scopes"),
    )
    role = Role(
        slug=role_slug,
        name=name,
        description=description,
        permissions=_sorted(permissions),
        scopes=listed,
        is_built_in=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
    _require_having(authorized, role.permissions)
    authorized.forbid_lasting()
    # The organization is locked, so no other transaction adds a role meanwhile.
    others = {other.slug for other in uow.roles.of_organization(authorized.organization.id)}
    if role.slug in _BUILT_IN or role.slug in others:
        raise RoleTaken
    if len(others) >= ROLES_MAX:
        raise TooManyRoles
    uow.roles.add(authorized.organization.id, role)
    _record(uow, authorized, "role_created", role)
    return role


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanges:
    """What is to change in a role; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    permissions: list[Capability] | None = None
    scopes: list[str] | None = None


def change(uow: UnitOfWork, slug: str, role_slug: str, changes: RoleChanges, *, seen_state: str | None = None) -> Role:
    """Change the given fields of a role, which takes effect with the next request of each member who has it.

    Raise `RoleChanged` when its state is not `seen_state`, which the caller has seen.
    """
    authorized = authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    if role_slug in _BUILT_IN:
        raise RoleBuiltIn
    # Invalid input is refused before an unknown role.
    new_name, new_description = all_valid(
        lambda: checked_name(changes.name, characters_min=1) if changes.name is not None else None,
        lambda: _checked_description(changes.description) if changes.description is not None else None,
    )
    before = _custom(uow, authorized, role_slug)
    _require_seen(before, seen_state)
    listed = (
        checked_scopes(uow, authorized.organization.id, changes.scopes, field="scopes", before=before.scopes)
        if changes.scopes is not None
        else before.scopes
    )
    after = replace(
        before,
        name=before.name if new_name is None else new_name,
        description=before.description if new_description is None else new_description,
        permissions=before.permissions if changes.permissions is None else _sorted(changes.permissions),
        scopes=listed,
    )
    _require_having(authorized, set(after.permissions) ^ set(before.permissions))
    is_less = access.implied_by(after.permissions) <= access.implied_by(before.permissions)
    # A scope that no role lists any more may be open to everyone.
    if not is_less or after.scopes != before.scopes:
        authorized.forbid_lasting()
    if after == before:
        return before
    after = replace(after, updated_at=uow.now)
    uow.roles.save(authorized.organization.id, after)
    gained = access.implied_by(after.permissions) - access.implied_by(before.permissions)
    if not group_roles.POWERS.isdisjoint(gained):
        # A connection's word alone opens no such role that a rule gave (`group_roles.POWERS`).
        uow.sessions.narrow_to_member(authorized.organization.id, role_slug)
    if set(before.permissions) - set(after.permissions):
        inviters.withdraw_of_role(uow, authorized.organization.id, role_slug, access.implied_by(after.permissions))
    more = {"old_scopes": before.scopes} if after.scopes != before.scopes else {}
    _record(uow, authorized, "role_updated", after, old_permissions=before.permissions, **more)
    return after


def delete(uow: UnitOfWork, slug: str, role_slug: str, *, seen_state: str | None = None) -> None:
    """Delete a role; raise `RoleInUse` when members or pending invitations have it, or a rule gives it.

    Raise `RoleChanged` when its state is not `seen_state`, which the caller has seen.
    """
    # Locked, so that the role cannot be assigned between the check and the deletion.
    authorized = authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    if role_slug in _BUILT_IN:
        raise RoleBuiltIn
    role = _custom(uow, authorized, role_slug)
    _require_seen(role, seen_state)
    if role.scopes:
        # They may be open to everyone then.
        authorized.forbid_lasting()
    if uow.roles.is_in_use(authorized.organization.id, role_slug):
        raise RoleInUse
    uow.roles.remove(authorized.organization.id, role_slug)
    _record(uow, authorized, "role_deleted", role)


def seen_state_of(role: Role) -> str:
    """Return a text that each change of a role changes."""
    return role.updated_at.isoformat() if role.updated_at is not None else "built in"


def _require_seen(role: Role, seen_state: str | None) -> None:
    if seen_state not in {None, seen_state_of(role)}:
        raise RoleChanged


def _custom(uow: UnitOfWork, authorized: OrganizationAccess, role_slug: str) -> Role:
    role = uow.roles.by_slug(authorized.organization.id, role_slug)
    if role is None:
        raise RoleUnknown
    return role


def _require_having(authorized: OrganizationAccess, changed: Iterable[Capability]) -> None:
    """Raise `Forbidden` when the caller lacks a capability that they would give or take."""
    missing = _sorted(set(changed) - authorized.capabilities)
    if missing:
        raise Forbidden(
            Wording(
                "You can add to a role, and remove from it, only permissions that you have yourself."
                " You lack %(missing)s.",
                missing=", ".join(missing),
            )
        )


def _record(uow: UnitOfWork, authorized: OrganizationAccess, change: str, role: Role, **audit_only: Any) -> None:
    """Record a change to a role as a change to the organization: roles have no actions of their own."""
    organization_id = authorized.organization.id
    of_scopes = {"scopes": role.scopes} if role.scopes else {}
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        audit_only={"role_name": role.name, "permissions": role.permissions, **of_scopes, **audit_only},
        change=change,
        role_slug=role.slug,
    )


def _checked_description(text: str) -> str:
    description = text.strip()
    if len(description) > DESCRIPTION_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "description",
            Wording("A description has at most %(maximum)s characters.", maximum=DESCRIPTION_CHARACTERS_MAX),
        )
    return description


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHolders:
    """How many members and pending invitations have a role: exact up to `COUNTED_MAX`, and one more beyond."""

    members: int
    invitations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRole:
    """A role with its holders; None for a reader whose role does not see the members."""

    role: Role
    holders: RoleHolders | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRoles:
    """The built-in roles and a part of the custom ones, by slug.

    `total` counts them all. The list goes on after the slug `next`; None at its end.
    """

    found: Sequence[HeldRole]
    total: int
    next: str | None


def search(uow: UnitOfWork, slug: str, *, after: str, limit: int) -> FoundRoles:
    """Return the built-in roles, and at most `limit` custom ones after a slug."""
    authorized = authorize(uow, slug, Operation.ROLES_READ)
    everything = list_all(uow, slug)
    following = [role for role in everything if not role.is_built_in and role.slug > after]
    shown = [*(role for role in everything if role.is_built_in), *following[:limit]]
    return FoundRoles(
        found=_held(uow, authorized.organization.id, authorized.capabilities, shown),
        total=len(everything),
        next=following[limit - 1].slug if len(following) > limit else None,
    )


def show_held(uow: UnitOfWork, slug: str, role_slug: str) -> HeldRole:
    """Return a role with its holders; raise `RoleUnknown`."""
    authorized = authorize(uow, slug, Operation.ROLES_READ)
    role = show(uow, slug, role_slug)
    [held] = _held(uow, authorized.organization.id, authorized.capabilities, [role])
    return held


def show_deletion(uow: UnitOfWork, slug: str, role_slug: str) -> tuple[Role, RoleHolders]:
    """Return a custom role to delete, with its holders; raise `RoleUnknown` or `RoleBuiltIn`."""
    organization = authorize(uow, slug, Operation.ROLES_CHANGE).organization
    role = show(uow, slug, role_slug)
    if role.is_built_in:
        raise RoleBuiltIn
    return role, uow.roles.holders(organization.id, [role_slug], counted_max=COUNTED_MAX + 1)[role_slug]


def _held(
    uow: UnitOfWork, organization_id: UUID, capabilities: frozenset[Capability], shown: Sequence[Role]
) -> Sequence[HeldRole]:
    if Capability.ORG_MEMBERS_VIEW not in capabilities:
        return [HeldRole(role=role, holders=None) for role in shown]
    holders = uow.roles.holders(organization_id, [role.slug for role in shown], counted_max=COUNTED_MAX + 1)
    return [HeldRole(role=role, holders=holders[role.slug]) for role in shown]
