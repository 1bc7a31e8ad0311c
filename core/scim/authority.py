"""Which members a SCIM token may change: members whose role its maker could have given.

The role that the maker had when the token was made is kept with it, because the token stays when the maker leaves. A
token without one changes plain members only, and a token that was made with a setup link only the roles of the link and
`member`. `user_changes.py` and `groups.py` protect the owner from every token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from uuid import UUID

from core.organizations import access
from core.organizations.authority import Authority
from core.scim.refusals import RoleProtected

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_caller(uow: UnitOfWork) -> Authority:
    """Return what the maker of the calling token could do when it was made."""
    caller = uow.scim_caller
    return Authority(role=caller.maker_role, permissions=caller.maker_permissions, link_roles=caller.link_roles)


def require_may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> None:
    """Raise `RoleProtected` unless the calling token may change, suspend and remove members with this role."""
    if not _may_change(uow, organization_id, role):
        raise RoleProtected


def out_of_reach(uow: UnitOfWork, organization_id: UUID, roles: Collection[str]) -> frozenset[str]:
    """Return the roles among these whose members the calling token may not change."""
    return frozenset(role for role in roles if not _may_change(uow, organization_id, role))


def _may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> bool:
    return of_caller(uow).may_give(role, access.capabilities_of_role(uow, organization_id, role))
