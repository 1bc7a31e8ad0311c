"""Ownership: an organization always has exactly one owner, who can transfer the ownership to another member.

A unique index enforces that there are never two, so the old owner's role is changed before the new owner's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import BadRequest
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import found_members
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.found_members import ListedMember
from core.organizations.organizations import ADMIN, OWNER
from core.positions import FoundRows
from core.sessions import customer_endings

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The old and the new owner."""

    old_owner_user_id: UUID
    new_owner_user_id: UUID


def transfer(uow: UnitOfWork, slug: str, new_owner_user_id: UUID) -> Transfer:
    """Make another member the owner, and the caller an admin."""
    authorized = authorize_and_lock(uow, slug, Operation.OWNERSHIP_TRANSFER)
    organization_id, old_owner = authorized.organization.id, authorized.membership
    if new_owner_user_id == old_owner.user_id:
        raise _refused("You are the owner already. Name another member.")
    # The id comes from the body, so it is input: without such a member the status is 400, not 404.
    new_owner = uow.members.find(organization_id, new_owner_user_id)
    if new_owner is None:
        raise _refused("This must be a member of the organization. Invite them first.")
    if uow.members.unconfirmed(organization_id, new_owner_user_id) is not None:
        # An owner cannot leave, so no member becomes one without consent.
        raise _refused("This person has not confirmed their membership. Ask them to sign in to the organization first.")
    if not new_owner.is_active:
        raise _refused("This member is deactivated. Name one who can sign in to the organization.")

    uow.members.set_role(organization_id, [old_owner.user_id], ADMIN)
    uow.members.set_role(organization_id, [new_owner_user_id], OWNER)
    customer_endings.end_lost(uow, organization_id, [old_owner.user_id, new_owner_user_id])
    for before, role in ((old_owner, ADMIN), (new_owner.membership, OWNER)):
        # Each change of role is an audit entry; the event is the change of owner.
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


def candidates(uow: UnitOfWork, slug: str, *, search: str, limit: int) -> FoundRows[ListedMember]:
    """Find members by a part of their address, who could become the owner; an empty text finds none."""
    authorize(uow, slug, Operation.OWNERSHIP_TRANSFER)
    if not search.strip():
        return FoundRows(found=[], total=0, next=None)
    return found_members.found(uow, slug, search=search, role="").first(after=None, limit=limit)


def show_candidate(uow: UnitOfWork, slug: str, user_id: UUID) -> ListedMember:
    """Return the member who would become the owner; raise `MemberUnknown` when the user is none."""
    organization = authorize(uow, slug, Operation.OWNERSHIP_TRANSFER).organization
    return found_members.member_of(uow, organization.id, user_id)


def _refused(message: str) -> BadRequest:
    return BadRequest.of_field("new_owner_user_id", message)
