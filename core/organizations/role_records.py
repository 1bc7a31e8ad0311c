"""The roles of an organization as the console shows them: with the number of their holders.

Creating, changing and deleting them is in `roles.py`, as for the JSON interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations import roles
from core.organizations.access import Capability, Operation, authorize
from core.organizations.roles import Role

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
    everything = roles.list_all(uow, slug)
    following = [role for role in everything if not role.is_built_in and role.slug > after]
    shown = [*(role for role in everything if role.is_built_in), *following[:limit]]
    return FoundRoles(
        found=_held(uow, authorized.organization.id, authorized.capabilities, shown),
        total=len(everything),
        next=following[limit - 1].slug if len(following) > limit else None,
    )


def show(uow: UnitOfWork, slug: str, role_slug: str) -> HeldRole:
    """Return a role with its holders; raise `RoleUnknown`."""
    authorized = authorize(uow, slug, Operation.ROLES_READ)
    role = roles.show(uow, slug, role_slug)
    [held] = _held(uow, authorized.organization.id, authorized.capabilities, [role])
    return held


def show_deletion(uow: UnitOfWork, slug: str, role_slug: str) -> tuple[Role, RoleHolders]:
    """Return a custom role to delete, with its holders; raise `RoleUnknown` or `RoleBuiltIn`."""
    organization = authorize(uow, slug, Operation.ROLES_CHANGE).organization
    role = roles.show(uow, slug, role_slug)
    if role.is_built_in:
        raise roles.RoleBuiltIn
    return role, uow.roles.holders(organization.id, [role_slug], counted_max=COUNTED_MAX + 1)[role_slug]


def _held(
    uow: UnitOfWork, organization_id: UUID, capabilities: frozenset[Capability], shown: Sequence[Role]
) -> Sequence[HeldRole]:
    if Capability.ORG_MEMBERS_VIEW not in capabilities:
        return [HeldRole(role=role, holders=None) for role in shown]
    holders = uow.roles.holders(organization_id, [role.slug for role in shown], counted_max=COUNTED_MAX + 1)
    return [HeldRole(role=role, holders=holders[role.slug]) for role in shown]
