"""Ownership: every organization has one owner at every moment, who can pass that on to another member.

That it is never two is kept by an index as well, so the old owner steps down before the new one comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import BadRequest
from core.events.actions import AuditAction
from core.events.events import EventType
from core.organizations import access
from core.organizations.access import Operation
from core.organizations.memberships import ADMIN, OWNER

if TYPE_CHECKING:
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Who was the owner, and who is it now."""

    old_owner_user_id: UUID
    new_owner_user_id: UUID


def transfer(uow: UnitOfWork, slug: str, new_owner_user_id: UUID) -> Transfer:
    """Make another member the owner, and the caller an admin."""
    place = access.authorize_and_lock(uow, slug, Operation.OWNERSHIP_TRANSFER)
    organization_id, old_owner = place.organization.id, place.membership
    if new_owner_user_id == old_owner.user_id:
        raise _refused("You are the owner already. Name another member.")
    # In the body, so whom it names is input: no member there is 400, not a path that leads nowhere.
    new_owner = uow.members.find(organization_id, new_owner_user_id)
    if new_owner is None:
        raise _refused("This must be a member of the organization. Invite them first.")
    if not new_owner.is_active:
        raise _refused("This account is deactivated. Name a member who can sign in.")

    uow.members.set_role(organization_id, old_owner.user_id, ADMIN)
    uow.members.set_role(organization_id, new_owner_user_id, OWNER)
    for before, role in ((old_owner, ADMIN), (new_owner.membership, OWNER)):
        # The change of owner is the event; each change of role is an entry.
        uow.audit(
            AuditAction.USER_ROLE_UPDATED,
            before.user_id,
            organization_id=organization_id,
            old_role=before.role,
            new_role=role,
        )
    uow.publish(
        EventType.ORGANIZATION_OWNER_CHANGED,
        organization_id=organization_id,
        old_owner_user_id=str(old_owner.user_id),
        new_owner_user_id=str(new_owner_user_id),
    )
    return Transfer(old_owner_user_id=old_owner.user_id, new_owner_user_id=new_owner_user_id)


def _refused(message: str) -> BadRequest:
    return BadRequest.of_field("new_owner_user_id", message)
