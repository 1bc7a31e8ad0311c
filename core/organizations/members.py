"""Members, who manage an organization: listing them, changing their roles, removing them.

A membership is defined in `memberships.py`, which access control imports. Custom roles are in `roles.py`, the transfer
of ownership in `ownership.py`, invitations in `core/invitations/`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from core.errors import BadRequest, NotFound
from core.events.actions import AuditAction
from core.organizations import access
from core.organizations.access import Operation
from core.organizations.memberships import ADMIN, MEMBER, OWNER, Membership
from core.sessions import sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.organizations.organizations import Organization
    from ports.unit_of_work import UnitOfWork

MEMBERS_MAX_DEFAULT: Final = 5


class MemberUnknown(NotFound):
    """The user is not a member, whether or not they have an account."""

    default_message = "This organization has no such member."


class AssignedRoleUnknown(BadRequest):
    """The value is neither a built-in role that can be assigned nor a custom role of the organization."""

    def __init__(self) -> None:
        refusal = BadRequest.of_field("role", "This must be admin, member, or the slug of a role of this organization.")
        super().__init__(refusal.message, details=refusal.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A membership with its user; `is_active` is false when the account is deactivated."""

    membership: Membership
    email: str
    is_platform_owner: bool
    is_active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersPage:
    """A page of members, the total number of members, and the limit of the organization's tier, if it has one."""

    members: Sequence[Member]
    total: int
    has_tier: bool
    tier_max_users: int | None


class LimitSource(StrEnum):
    """What sets a limit."""

    ORGANIZATION = "organization"
    TIER = "tier"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLimits:
    """How many members an organization may have (null means unlimited), and what sets this limit."""

    max_users: int | None
    source: LimitSource


def limits_of(organization: Organization, *, has_tier: bool, tier_max_users: int | None) -> MemberLimits:
    """Return the limit of members: the organization's own, else its tier's, else the default (decisions 5.3)."""
    if organization.max_users is not None:
        return MemberLimits(max_users=organization.max_users, source=LimitSource.ORGANIZATION)
    if has_tier:
        return MemberLimits(max_users=tier_max_users, source=LimitSource.TIER)
    return MemberLimits(max_users=MEMBERS_MAX_DEFAULT, source=LimitSource.DEFAULT)


def list_page(
    uow: UnitOfWork, slug: str, *, role: str | None, page: int, limit: int
) -> tuple[MembersPage, MemberLimits]:
    """List members, the oldest membership first."""
    organization = access.authorize(uow, slug, Operation.MEMBERS_LIST).organization
    found = uow.members.page(organization.id, role=role, limit=limit, offset=(page - 1) * limit)
    return found, limits_of(organization, has_tier=found.has_tier, tier_max_users=found.tier_max_users)


def change_role(uow: UnitOfWork, slug: str, user_id: UUID, role: str) -> Member:
    """Give a member another built-in or custom role, which takes effect with their next request."""
    authorized = access.authorize_and_lock(uow, slug, Operation.MEMBER_CHANGE)
    organization_id = authorized.organization.id
    if role == OWNER:
        raise BadRequest.of_field(
            "role", "An organization has one owner. To make another member the owner, transfer the ownership."
        )
    if user_id == authorized.caller.user_id:
        raise BadRequest("You are the owner. Transfer the ownership before you change your role.")
    if role not in (ADMIN, MEMBER) and uow.roles.by_slug(organization_id, role) is None:
        raise AssignedRoleUnknown
    member = uow.members.find(organization_id, user_id)
    if member is None:
        raise MemberUnknown
    if role == member.membership.role:
        return member

    uow.members.set_role(organization_id, user_id, role)
    uow.record(
        AuditAction.USER_ROLE_UPDATED,
        user_id,
        organization_id=organization_id,
        event_only={"user_id": str(user_id)},
        old_role=member.membership.role,
        new_role=role,
    )
    return replace(member, membership=replace(member.membership, role=role))


def remove(uow: UnitOfWork, slug: str, user_id: UUID) -> None:
    """Remove a member, and end their sessions in this organization."""
    authorized = access.authorize_and_lock(uow, slug, Operation.MEMBER_REMOVE)
    organization_id = authorized.organization.id
    if user_id == authorized.caller.user_id:
        raise BadRequest("You cannot remove yourself. Ask another member who can manage members.")
    member = uow.members.find(organization_id, user_id)
    if member is None:
        raise MemberUnknown
    if member.membership.role == OWNER:
        raise BadRequest("The owner cannot be removed. Transfer the ownership first.")

    uow.members.remove(organization_id, user_id)
    ended = sessions.end_in_organization(uow, organization_id, user_id)
    sessions.record_ended(uow, user_id, member.email, ended, reason="member_removed")
    _record_removed(uow, organization_id, user_id, role=member.membership.role)


def remove_added_since(uow: UnitOfWork, user_id: UUID, *, since: datetime) -> None:
    """End the memberships that a user got since then, except where they are the owner."""
    for organization_id in uow.members.organizations_of(user_id):
        # Under this lock the user cannot become the owner meanwhile.
        uow.organizations.lock(organization_id)
        membership = uow.members.of_user(organization_id, user_id)
        if membership is None or membership.role == OWNER or membership.created_at < since:
            continue
        uow.members.remove(organization_id, user_id)
        _record_removed(uow, organization_id, user_id, role=membership.role, reason="email_change_undone")


def _record_removed(uow: UnitOfWork, organization_id: UUID, user_id: UUID, **details: Any) -> None:
    uow.record(
        AuditAction.USER_REMOVED,
        user_id,
        organization_id=organization_id,
        event_only={"user_id": str(user_id)},
        **details,
    )
