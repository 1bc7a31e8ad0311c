"""Invitations: who was asked to join an organization, and how that ends without an answer.

Here is what members who manage others do, and how invitations run out by themselves; what the invited answer is in
`invitation_answers.py`. Whoever invites sees the token, so the token alone proves nothing about the address: the mailed
link has a second one, the proof, which nobody else ever sees (decisions 5.6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `Invitation`

from core.email_addresses import normalize_email
from core.errors import BadRequest, ErrorCode, Forbidden, NotFound, Refusal
from core.events.actions import AuditAction
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.access import Capability, Operation, authorize, authorize_and_lock, capabilities_of
from core.organizations.creation import AddressNotVerified
from core.organizations.members import AssignedRoleUnknown
from core.organizations.memberships import BUILT_IN_ROLES, MEMBER, OWNER
from core.secrets import hash_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.organizations.access import OrganizationAccess
    from core.organizations.organizations import OrganizationStatus
    from core.secrets import Secret
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(days=7)


class InvitationStatus(StrEnum):
    """Where in its life an invitation is (operations 3)."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def follows(self) -> frozenset[InvitationStatus]:
        """After what an invitation may come to this; everything else is refused."""
        return _FOLLOWS[self]


_FOLLOWS: Final = {
    InvitationStatus.PENDING: frozenset[InvitationStatus](),
    InvitationStatus.ACCEPTED: frozenset({InvitationStatus.PENDING}),
    # Whether the sweeper has been there already makes no difference to who declines.
    InvitationStatus.REJECTED: frozenset({InvitationStatus.PENDING, InvitationStatus.EXPIRED}),
    InvitationStatus.CANCELLED: frozenset({InvitationStatus.PENDING}),
    InvitationStatus.EXPIRED: frozenset({InvitationStatus.PENDING}),
}


class AlreadyMember(BadRequest):
    """The person manages the organization already."""

    default_message = "This person is a member of the organization already. A role is changed where members are listed."


class AlreadyInvited(BadRequest):
    """An invitation of the address waits for its answer."""

    default_message = (
        "This address is invited already, and has not answered yet. To send a new invitation, withdraw that one first."
    )


class InvitationExpired(Refusal):
    """The invitation is too old; returned rather than raised where that has to be remembered."""

    code = ErrorCode.INVITATION_EXPIRED
    default_message = (
        "This invitation has expired. It was good for seven days; ask whoever invited you to send you a new one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """The record (operations 2.5). Its `token` is the SHA-256 of the real one, which only its creation shows."""

    id: UUID
    org_id: UUID
    email: str
    role: str
    invited_by: UUID | None
    status: InvitationStatus
    token: str = field(repr=False)
    expires_at: datetime
    created_at: datetime

    def is_open(self, at: datetime) -> bool:
        """Say whether it can be accepted."""
        return self.status is InvitationStatus.PENDING and self.expires_at > at


@dataclass(frozen=True, slots=True, kw_only=True)
class Inviter:
    """Who invited; of an account that is gone the fields say so."""

    id: str
    email: str
    created_at: datetime


# As operations 2.3 has it of owners.
GONE: Final = Inviter(id="unknown", email="deleted-user@unknown", created_at=datetime(1970, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationItem:
    """An invitation as those see it who manage members."""

    invitation: Invitation
    inviter: Inviter


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """A new invitation, and its token."""

    item: InvitationItem
    token: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """An invitation that somebody has the token of, with what they want to know before they answer.

    The inviter is named by an address that they have proved, or not at all.
    """

    invitation: Invitation
    proof_hash: bytes = field(repr=False)
    organization_name: str
    organization_status: OrganizationStatus
    inviter_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """An invitation whose time is over, and its place in the queue of those."""

    id: UUID
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """How many invitations a sweep has expired, and where in the queue to go on, if there may be more."""

    expired: int
    continue_after: Due | None


def invite(uow: UnitOfWork, slug: str, email: str, role: str) -> Invited:
    """Invite the person with an address into the organization, by a letter."""
    # Locked, so that a role that is given here is not deleted meanwhile, and nobody joins unseen.
    place = authorize_and_lock(uow, slug, Operation.INVITATIONS_CHANGE)
    organization, caller = place.organization, place.caller
    if not caller.is_verified:
        # The letter says who invites, and anybody can change to an address that they have never proved.
        raise AddressNotVerified
    _require_role(uow, place, role)
    address = normalize_email(email)
    if uow.invitations.has_member(organization.id, address):
        raise AlreadyMember

    token, proof = uow.randomness.mail_token(), uow.randomness.mail_token()
    invitation = Invitation(
        id=uow.randomness.new_id(),
        org_id=organization.id,
        email=address,
        role=role,
        invited_by=caller.user_id,
        status=InvitationStatus.PENDING,
        token=hash_token(token.reveal()).hex(),
        expires_at=uow.now + LIFETIME,
        created_at=uow.now,
    )
    _make_room(uow, invitation)
    if not uow.invitations.add(invitation, token, proof_hash=hash_token(proof.reveal())):
        raise AlreadyInvited
    # The account may not exist, and whether it does is not the organization's to know: so the target is the invitation.
    uow.record(
        AuditAction.USER_INVITED, invitation.id, organization_id=organization.id, invited_email=address, role=role
    )
    mail.send(
        uow,
        address,
        MailTemplate.INVITATION,
        organization_id=organization.id,
        token=token.reveal(),
        proof=proof.reveal(),
        place=organization.name,
        inviter=caller.email,
        role=role,
    )
    inviter = Inviter(id=str(caller.user_id), email=caller.email, created_at=caller.user_created_at)
    return Invited(item=InvitationItem(invitation=invitation, inviter=inviter), token=token)


def list_of(
    uow: UnitOfWork, slug: str, status: InvitationStatus | None, *, limit: int, offset: int
) -> Sequence[InvitationItem]:
    """List the organization's invitations, the newest first."""
    place = authorize(uow, slug, Operation.INVITATIONS_LIST)
    return uow.invitations.page(place.organization.id, status, limit=limit, offset=offset)


def revoke(uow: UnitOfWork, slug: str, invitation_id: UUID) -> None:
    """Withdraw an invitation that waits for its answer."""
    organization = authorize(uow, slug, Operation.INVITATIONS_CHANGE).organization
    invitation = uow.invitations.find(organization.id, invitation_id)
    if (
        invitation is None
        or not invitation.is_open(uow.now)
        or not uow.invitations.settle(organization.id, invitation_id, InvitationStatus.CANCELLED)
    ):
        raise NotFound("There is no such invitation that still waits for an answer.")
    _record_ended(uow, AuditAction.INVITATION_REVOKED, invitation)


def expire(uow: UnitOfWork, invitation: Invitation) -> None:
    """Write down that an invitation has run out, unless somebody was quicker with that."""
    if uow.invitations.settle(invitation.org_id, invitation.id, InvitationStatus.EXPIRED):
        _record_ended(uow, AuditAction.INVITATION_EXPIRED, invitation)


def sweep(uow: UnitOfWork, after: Due | None, limit: int) -> Swept:
    """Look at so many invitations whose time is over and expire them, but for those of organizations not active."""
    due = uow.invitations.due(after, limit)
    expired = uow.invitations.expire([one.id for one in due])
    if expired:
        # Few statements, because the expired rows stay locked until the last one is done.
        uow.record_each(AuditAction.INVITATION_EXPIRED, expired)
    return Swept(expired=len(expired), continue_after=due[-1] if len(due) == limit else None)


def _record_ended(uow: UnitOfWork, action: AuditAction, invitation: Invitation) -> None:
    uow.record(
        action,
        invitation.id,
        organization_id=invitation.org_id,
        event_only={"invitation_id": str(invitation.id)},
    )


def _require_role(uow: UnitOfWork, place: OrganizationAccess, role: str) -> None:
    """Refuse a role that cannot be given, and one that this member cannot give."""
    if role == MEMBER:
        return
    place.require(Capability.ORG_ROLES_MANAGE)
    if role == OWNER:
        raise BadRequest.of_field("role", "Nobody is invited as owner. Invite an admin, then transfer the ownership.")
    custom = uow.roles.by_slug(place.organization.id, role) if role not in BUILT_IN_ROLES else None
    if role not in BUILT_IN_ROLES and custom is None:
        raise AssignedRoleUnknown
    # As with what is put into a role: else whoever manages members would invite themselves to all the rest.
    if not capabilities_of(role, custom.permissions if custom is not None else None) <= place.capabilities:
        raise Forbidden("You can invite only to a role that allows no more than your own. Ask an owner or admin.")


def _make_room(uow: UnitOfWork, invitation: Invitation) -> None:
    """Let go of an earlier invitation of the same address that has run out, and of no other."""
    earlier = uow.invitations.pending(invitation.org_id, invitation.email)
    if earlier is not None and not earlier.is_open(uow.now):
        expire(uow, earlier)
