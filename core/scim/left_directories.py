"""Forgets the groups of directories that left, 30 days after the last token that managed them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.organizations import group_roles

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

KEPT_FOR: Final = timedelta(days=30)


def forget_next(uow: UnitOfWork) -> bool:
    """Delete the groups of one organization whose directory left too long ago; return whether there was one."""
    organization_id = uow.directory_groups.left(before=uow.now - KEPT_FOR)
    if organization_id is None:
        return False
    forget(uow, organization_id)
    return True


def forget(uow: UnitOfWork, organization_id: UUID) -> None:
    """Delete the groups of an organization and take the roles that they gave, unless a token was made since."""
    uow.organizations.lock(organization_id)
    if uow.directory_groups.left(before=uow.now - KEPT_FOR, organization_id=organization_id) is None:
        return
    gone = uow.directory_groups.remove_all(organization_id)
    targets = [(organization_id, group_id) for group_id in gone]
    uow.record_each(AuditAction.GROUP_DELETED, targets, reason="directory_left")
    group_roles.apply(uow, organization_id, None)
