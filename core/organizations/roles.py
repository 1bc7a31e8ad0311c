"""Custom roles: what an organization calls its own mixtures of capabilities (decisions 5.4).

The roles owner, admin and member are built in: they are listed with the others and never change. A custom role is given
to a member in `members.py`. Whoever makes or changes one can put nothing into it that they may not do themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Role`
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest, Conflict, Forbidden, NotFound
from core.events.actions import AuditAction
from core.organizations import access
from core.organizations.access import Capability, Operation
from core.organizations.memberships import ADMIN, BUILT_IN_ROLES, MEMBER, OWNER
from core.text import checked_name, checked_slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from core.organizations.access import OrganizationAccess
    from ports.unit_of_work import UnitOfWork

# More than anybody can tell apart, and few enough to be listed without pages.
ROLES_MAX: Final = 100
DESCRIPTION_CHARACTERS_MAX: Final = 500


class RoleUnknown(NotFound):
    """The organization has no role of that slug."""

    default_message = "This organization has no such role."


class RoleBuiltIn(BadRequest):
    """Owner, admin and member are what they are."""

    default_message = "The built-in roles cannot be changed or deleted. Make a role of your own instead."


class RoleTaken(Conflict):
    """There is a role of that slug."""

    default_message = "There is a role with this slug already. Choose another one."


class RoleInUse(Conflict):
    """Members, or people who are invited, have it."""

    default_message = "Somebody has this role or is invited to it. Change their role or revoke the invitation first."


class TooManyRoles(BadRequest):
    """The organization has as many as it may."""

    default_message = f"An organization has at most {ROLES_MAX} roles of its own. Delete one that nobody needs."


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A set of capabilities with a name; of a built-in role nobody made there are no times."""

    slug: str
    name: str
    description: str
    permissions: list[Capability]
    is_built_in: bool
    created_at: datetime | None
    updated_at: datetime | None


def _built_in(slug: str, description: str) -> Role:
    return Role(
        slug=slug,
        name=slug.title(),
        description=description,
        permissions=_sorted(access.capabilities_of(slug, None)),
        is_built_in=True,
        created_at=None,
        updated_at=None,
    )


def _sorted(permissions: Iterable[Capability]) -> list[Capability]:
    """Put capabilities in the order of their table, each once."""
    given = set(permissions)
    return [capability for capability in Capability if capability in given]


_BUILT_IN: Final = {
    role.slug: role
    for role in (
        _built_in(OWNER, "Full control: transfers the ownership and deletes the organization besides."),
        _built_in(ADMIN, "Manages members, services and settings."),
        _built_in(MEMBER, "Sees the organization and uses its services."),
    )
}
assert tuple(_BUILT_IN) == BUILT_IN_ROLES, "every built-in role is described"


def list_all(uow: UnitOfWork, slug: str) -> Sequence[Role]:
    """List the built-in roles, and then the organization's own by their slugs."""
    place = access.authorize(uow, slug, Operation.ROLES_READ)
    return [*_BUILT_IN.values(), *uow.roles.of_organization(place.organization.id)]


def show(uow: UnitOfWork, slug: str, role_slug: str) -> Role:
    """Show a role."""
    place = access.authorize(uow, slug, Operation.ROLES_READ)
    return _BUILT_IN.get(role_slug) or _custom(uow, place, role_slug)


def create(
    uow: UnitOfWork, slug: str, *, role_slug: str, name: str, description: str, permissions: Iterable[Capability]
) -> Role:
    """Make a role of capabilities that the caller has as well."""
    place = access.authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    role = Role(
        slug=checked_slug(role_slug),
        name=checked_name(name, characters_min=1),
        description=_checked_description(description),
        permissions=_sorted(permissions),
        is_built_in=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
    _require_having(place, role.permissions)
    # Nobody else adds one meanwhile, because the organization is locked.
    others = {other.slug for other in uow.roles.of_organization(place.organization.id)}
    if role.slug in _BUILT_IN or role.slug in others:
        raise RoleTaken
    if len(others) >= ROLES_MAX:
        raise TooManyRoles
    uow.roles.add(place.organization.id, role)
    _record(uow, place, "role_created", role)
    return role


def change(
    uow: UnitOfWork,
    slug: str,
    role_slug: str,
    *,
    name: str | None = None,
    description: str | None = None,
    permissions: Iterable[Capability] | None = None,
) -> Role:
    """Change what is named of a role; for everybody who has it that counts from their next request on."""
    place = access.authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    if role_slug in _BUILT_IN:
        raise RoleBuiltIn
    # What is wrong with the input is said before whether there is such a role (decisions 1.6).
    new_name = checked_name(name, characters_min=1) if name is not None else None
    new_description = _checked_description(description) if description is not None else None
    before = _custom(uow, place, role_slug)
    after = replace(
        before,
        name=before.name if new_name is None else new_name,
        description=before.description if new_description is None else new_description,
        permissions=before.permissions if permissions is None else _sorted(permissions),
    )
    _require_having(place, set(after.permissions) - set(before.permissions))
    if after == before:
        return before
    after = replace(after, updated_at=uow.now)
    uow.roles.save(place.organization.id, after)
    _record(uow, place, "role_updated", after)
    return after


def delete(uow: UnitOfWork, slug: str, role_slug: str) -> None:
    """Delete a role that nobody has and nobody is invited to."""
    # Locked, so that nobody is given the role between the question and the deletion.
    place = access.authorize_and_lock(uow, slug, Operation.ROLES_CHANGE)
    if role_slug in _BUILT_IN:
        raise RoleBuiltIn
    role = _custom(uow, place, role_slug)
    if uow.roles.is_in_use(place.organization.id, role_slug):
        raise RoleInUse
    uow.roles.remove(place.organization.id, role_slug)
    _record(uow, place, "role_deleted", role)


def _custom(uow: UnitOfWork, place: OrganizationAccess, role_slug: str) -> Role:
    role = uow.roles.by_slug(place.organization.id, role_slug)
    if role is None:
        raise RoleUnknown
    return role


def _require_having(place: OrganizationAccess, added: Iterable[Capability]) -> None:
    """Refuse whoever would give others more than they have (decisions 5.4)."""
    missing = _sorted(set(added) - place.capabilities)
    if missing:
        raise Forbidden(f"You can put into a role only what you may do yourself, and that is not {', '.join(missing)}.")


def _record(uow: UnitOfWork, place: OrganizationAccess, change: str, role: Role) -> None:
    """Record a change to a role as one to the organization: operations 6.3 has no action of its own for roles."""
    organization_id = place.organization.id
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        audit_only={"role_name": role.name, "permissions": role.permissions},
        change=change,
        role_slug=role.slug,
    )


def _checked_description(text: str) -> str:
    description = text.strip()
    if len(description) > DESCRIPTION_CHARACTERS_MAX:
        raise BadRequest.of_field("description", f"A description has at most {DESCRIPTION_CHARACTERS_MAX} characters.")
    return description
