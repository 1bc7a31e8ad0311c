"""Members, who manage an organization: listing them, changing their roles, removing them.

The list of the console is in `found_members.py`. A membership is defined in `organizations.py`. Custom roles are in
`roles.py`, the transfer of ownership in `ownership.py`, invitations in `core/invitations/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import departures, group_roles, inviters, keys
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock, capabilities_of_role
from core.organizations.organizations import ADMIN, MEMBER, OWNER, Membership, Organization, RoleSource
from core.sessions import customer_endings
from core.sessions.caller_limits import Act
from core.text import checked_note
from core.wording import Wording

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

MEMBERS_MAX_DEFAULT: Final = 5


class MemberUnknown(NotFound):
    """The user is not a member, whether or not they have an account."""

    default_message = "This organization has no such member."


class MemberChanged(Conflict):
    """Another person has changed the role of the member since the caller saw it."""

    default_message = (
        "Another person has changed the role of this member meanwhile. Check what is shown now, and send the form again"
        " if you still want it."
    )


class RoleOfRule(Conflict):
    """A rule gives the role by a group, so it is not changed by hand."""

    default_message = (
        "A rule gives this member the role by a group. Change the groups of the member at their source, or the rule."
    )

    @classmethod
    def of(cls, source: RoleSource) -> RoleOfRule:
        """Return the refusal that names the rule."""
        return cls(
            Wording(
                "A rule gives this member the role, by the group %(group)s (%(source)s). Change the groups of the"
                " member there, or the rule.",
                group=source.group,
                source=source.source,
            )
        )


class AssignedRoleUnknown(BadRequest):
    """The value is neither a built-in role that can be assigned nor a custom role of the organization."""

    def __init__(self) -> None:
        refusal = BadRequest.of_field("role", "This must be admin, member, or the slug of a role of this organization.")
        super().__init__(refusal.message, details=refusal.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A membership with its user; `is_active` is false when it, or the account of a confirmed member, is deactivated.

    `name` is the person's own once they have confirmed the membership and proved the address, else the directory's.
    `role_source` is the rule that gave the role; None for a role that was given by hand.
    """

    membership: Membership
    email: str
    name: str | None
    is_platform_owner: bool
    is_active: bool
    role_source: RoleSource | None = None


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
    """Return the limit of members: the organization's own, else its tier's, else the default."""
    if organization.max_users is not None:
        return MemberLimits(max_users=organization.max_users, source=LimitSource.ORGANIZATION)
    if has_tier:
        return MemberLimits(max_users=tier_max_users, source=LimitSource.TIER)
    return MemberLimits(max_users=MEMBERS_MAX_DEFAULT, source=LimitSource.DEFAULT)


def defer_room(uow: UnitOfWork, organization: Organization, *, joining: int = 0) -> Deferred[bool]:
    """Defer reading whether an organization has room for its members and `joining` more.

    The people that it admits for the customers of its services count too. An internal organization has the room of the
    vendor; it is locked and active, so that neither its customer nor its vendor ends meanwhile.
    """
    if organization.is_internal:
        return _defer_room_of_vendor(uow, organization, joining=joining)
    found = uow.tiers.defer_by_id(organization.tier_id)
    count = uow.members.defer_count_with_admitted(organization.id)

    def has_room() -> bool:
        tier = found()
        tier_max_users = tier.default_max_users if tier is not None else None
        limits = limits_of(organization, has_tier=tier is not None, tier_max_users=tier_max_users)
        return limits.max_users is None or count() + joining <= limits.max_users

    return has_room


def _defer_room_of_vendor(uow: UnitOfWork, internal: Organization, *, joining: int) -> Deferred[bool]:
    place = uow.organizations.internal_place(internal.id)
    assert place is not None, "an internal organization that is locked and active has no customer"
    # Of two people who join for two customers of the vendor at once, the second counts the first.
    uow.members.lock_admissions(place.vendor_id)
    vendor = uow.organizations.by_slug(place.vendor_slug)
    assert vendor is not None, "an internal organization that is locked and active has no vendor"
    return defer_room(uow, vendor, joining=joining)


def list_page(
    uow: UnitOfWork, slug: str, *, role: str | None, page: int, limit: int
) -> tuple[MembersPage, MemberLimits]:
    """List members, the oldest membership first."""
    organization = authorize(uow, slug, Operation.MEMBERS_LIST).organization
    found = uow.elsewhere.members.page(organization.id, role=role, limit=limit, offset=(page - 1) * limit)
    return found, limits_of(organization, has_tier=found.has_tier, tier_max_users=found.tier_max_users)


def change_role(uow: UnitOfWork, slug: str, user_id: UUID, role: str, *, seen_role: str | None = None) -> Member:
    """Give a member another built-in or custom role, which takes effect with their next request.

    Raise `MemberChanged` when the member has neither this role nor `seen_role`, which the caller has seen, and
    `RoleOfRule` when a rule gave the role.
    """
    authorized = authorize_and_lock(uow, slug, Operation.MEMBER_CHANGE)
    organization_id = authorized.organization.id
    if role == OWNER:
        raise BadRequest.of_field(
            "role", "An organization has one owner. To make another member the owner, transfer the ownership."
        )
    if user_id == authorized.caller.account.id:
        raise BadRequest("You are the owner. Transfer the ownership before you change your role.")
    if role not in (ADMIN, MEMBER) and uow.roles.by_slug(organization_id, role) is None:
        raise AssignedRoleUnknown
    member = uow.members.find(organization_id, user_id)
    if member is None:
        raise MemberUnknown
    if role == member.membership.role:
        return member
    if member.role_source is not None and group_roles.is_held(uow, organization_id, user_id):
        raise RoleOfRule.of(member.role_source)
    _require_seen(member, seen_role)
    given = capabilities_of_role(uow, organization_id, role)
    before = capabilities_of_role(uow, organization_id, member.membership.role)
    if role == ADMIN or (role != MEMBER and not given <= before):
        authorized.forbid_lasting()

    uow.members.set_role(organization_id, [user_id], role)
    customer_endings.end_lost(uow, organization_id, [user_id])
    inviters.withdraw(uow, organization_id, user_id, given)
    uow.record(
        AuditAction.USER_ROLE_UPDATED,
        user_id,
        organization_id=organization_id,
        event_only={"user_id": str(user_id)},
        old_role=member.membership.role,
        new_role=role,
    )
    return replace(member, membership=replace(member.membership, role=role))


def remove(uow: UnitOfWork, slug: str, user_id: UUID, *, seen_role: str | None = None, note: str = "") -> Member:
    """Remove a member, with the links to services that came with the membership, and their sessions; return who it was.

    Raise `MemberChanged` when the member has not `seen_role`, which the caller has seen. The note is kept in the audit
    log alone.

    Other sessions stay: a token that names the organization is refused from now on, and the next refresh returns one
    without it.
    """
    authorized = authorize_and_lock(uow, slug, Operation.MEMBER_REMOVE)
    organization_id = authorized.organization.id
    if user_id == authorized.caller.account.id:
        raise BadRequest("You cannot remove yourself. Leave the organization instead.")
    member = uow.members.find(organization_id, user_id)
    if member is None:
        raise MemberUnknown
    if member.membership.role == OWNER:
        raise BadRequest("The owner cannot be removed. Transfer the ownership first.")
    _require_seen(member, seen_role)
    authorized.require_no_less(capabilities_of_role(uow, organization_id, member.membership.role), "remove")
    written = checked_note(note)
    _end(uow, member.membership, **({"audit_only": {"note": written}} if written else {}))
    return member


def _require_seen(member: Member, seen_role: str | None) -> None:
    if seen_role not in {None, member.membership.role}:
        raise MemberChanged


def leave(uow: UnitOfWork, slug: str) -> None:
    """End the caller's own membership, whatever the status of the organization."""
    authorized = authorize_and_lock(uow, slug, Operation.ORGANIZATION_LEAVE)
    authorized.caller.require(Act.IN_PERSON)
    if authorized.membership.role == OWNER:
        raise BadRequest(
            "You own this organization. Transfer the ownership to another member, or delete the organization."
        )
    _end(uow, authorized.membership, left=True)


def leave_unconfirmed(uow: UnitOfWork, membership: Membership, email: str) -> None:
    """End a membership that its user, who has this address, did not confirm, without a session of the user.

    The organization is locked.
    """
    _end(uow, membership, actor_user_id=membership.user_id, actor_email=email, left=True)


def end_membership(uow: UnitOfWork, membership: Membership, *, reason: str) -> None:
    """End a membership for a reason that is recorded; the organization is locked."""
    _end(uow, membership, reason=reason)


def end_powers(uow: UnitOfWork, user_id: UUID) -> bool:
    """End what a user has made as a member, where the memberships stay; return False when one is an ownership.

    Then nothing ends, because an organization always has an owner. The organizations are locked.
    """
    locked: list[Membership | None] = []
    for organization_id in uow.members.all_organizations_of(user_id):
        # Under this lock the user cannot become the owner meanwhile; the membership may have ended before it.
        uow.organizations.lock(organization_id)
        locked.append(uow.members.of_user(organization_id, user_id))
    found = [membership for membership in locked if membership is not None]
    if any(membership.role == OWNER for membership in found):
        return False
    for membership in found:
        _end_powers(uow, membership)
    return True


def remove_left(uow: UnitOfWork, user_id: UUID, *, reason: str) -> Sequence[UUID]:
    """Remove the memberships of an account that is about to be removed, after `end_powers`; return their ids."""
    left = uow.members.of_account(user_id)
    for membership in left:
        departures.end(uow, membership.organization_id, [user_id])
        _remove(uow, membership, reason=reason)
    return [membership.organization_id for membership in left]


def remove_unconfirmed(uow: UnitOfWork, user_id: UUID, *, reason: str) -> Sequence[UUID]:
    """End the memberships that a user has not confirmed; return their organizations."""
    organizations = uow.members.unconfirmed_organizations_of(user_id)
    for organization_id in organizations:
        uow.organizations.lock(organization_id)
    # After the locks, because until then the user could confirm one, or be removed.
    ending = [uow.members.unconfirmed(organization_id, user_id) for organization_id in organizations]
    ended = [membership for membership in ending if membership is not None]
    for membership in ended:
        _end(uow, membership, reason=reason)
    return [membership.organization_id for membership in ended]


def _end(uow: UnitOfWork, membership: Membership, **details: Any) -> None:
    """End a membership, the links that came with it, and the open invitations that the member has sent."""
    departures.end(uow, membership.organization_id, [membership.user_id])
    _end_powers(uow, membership)
    _remove(uow, membership, **details)


def _end_powers(uow: UnitOfWork, membership: Membership) -> None:
    """End a member's keys and open invitations, and tell the owner which credentials stay."""
    departures.tell_owner(uow, membership.organization_id, [membership.user_id])
    keys.end_of_makers(uow, [membership.user_id], membership.organization_id)
    inviters.withdraw(uow, membership.organization_id, membership.user_id)


def _remove(uow: UnitOfWork, membership: Membership, **details: Any) -> None:
    uow.members.remove(membership.organization_id, membership.user_id)
    uow.record(
        AuditAction.USER_REMOVED,
        membership.user_id,
        organization_id=membership.organization_id,
        event_only={"user_id": str(membership.user_id)},
        role=membership.role,
        **details,
    )
