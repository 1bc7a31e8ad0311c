"""Which members a SCIM token may change: those whose role its maker could have given (decisions 5.7 and 7.9).

The role that the maker had when the token was made is kept with it, because the token stays when the maker leaves. A
token that keeps none changes plain members only. `user_changes.py` and `groups.py` protect the owner and the last admin
from every token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters
from core.organizations.access import Capability
from core.organizations.memberships import BUILT_IN_ROLES, OWNER
from core.scim.refusals import RoleProtected

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_NOTHING: Final[frozenset[Capability]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """The role of a token's maker when the token was made, and what it allowed then if it was a custom role."""

    role: str | None
    permissions: list[str] | None

    @classmethod
    def of(cls, role: str, capabilities: frozenset[Capability]) -> Self:
        """Return what to keep of a role."""
        return cls(role=role, permissions=None if role in BUILT_IN_ROLES else sorted(capabilities))

    def may_give(self, role: str, allowed_by_role: frozenset[Capability]) -> bool:
        """Return whether the maker could give a role, which allows what the second argument lists."""
        if role == OWNER:
            return self.role == OWNER
        has = access.capabilities_of(self.role, self.permissions) if self.role is not None else _NOTHING
        return inviters.may_invite_to(has, role, allowed_by_role)


def require_may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> None:
    """Raise `RoleProtected` unless the calling token may change, suspend and remove members with this role."""
    if not _may_change(uow, organization_id, role):
        raise RoleProtected


def out_of_reach(uow: UnitOfWork, organization_id: UUID, roles: Collection[str]) -> frozenset[str]:
    """Return which of these roles the calling token leaves alone, with the members who have them."""
    return frozenset(role for role in roles if not _may_change(uow, organization_id, role))


def _may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> bool:
    caller = uow.scim_caller
    authority = Authority(role=caller.maker_role, permissions=caller.maker_permissions)
    return authority.may_give(role, access.capabilities_of_role(uow, organization_id, role))
