"""Invitations to join an organization: inviting, listing, withdrawing, and expiry.

The answers of invited people are in `own_invitations.py`. The inviter sees the token, so the token alone proves nothing
about the address: the mailed link contains a second token, the proof, which only the recipient sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import names
from core.email_addresses import normalize_email
from core.errors import BadRequest, ErrorCode, Forbidden, NotFound, RateLimitExceeded, Refusal, all_valid
from core.events.actions import AuditAction
from core.invitations import included
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.access import Capability, Operation, capabilities_of
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock, capabilities_of_role
from core.organizations.inviters import may_invite_to
from core.organizations.key_callers import forbid_admins
from core.organizations.management import AddressNotVerified
from core.organizations.members import AssignedRoleUnknown
from core.organizations.organizations import BUILT_IN_ROLES, MEMBER, OWNER, OrganizationStatus
from core.secrets import Secret, hash_token
from core.wording import Grouped, Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(days=7)
WAITING_MAX: Final = 1000


class InvitationStatus(StrEnum):
    """The state of an invitation."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def follows(self) -> frozenset[InvitationStatus]:
        """The statuses from which an invitation can change to this one; every other change is refused."""
        return _FOLLOWS[self]


_FOLLOWS: Final = {
    InvitationStatus.PENDING: frozenset[InvitationStatus](),
    InvitationStatus.ACCEPTED: frozenset({InvitationStatus.PENDING}),
    # Declining must not depend on whether the sweeper has already marked the invitation as expired.
    InvitationStatus.REJECTED: frozenset({InvitationStatus.PENDING, InvitationStatus.EXPIRED}),
    InvitationStatus.CANCELLED: frozenset({InvitationStatus.PENDING}),
    InvitationStatus.EXPIRED: frozenset({InvitationStatus.PENDING}),
}


class AlreadyMember(BadRequest):
    """The person is already a member of the organization."""

    default_message = "This person is already a member of the organization. Change their role in the list of members."


class AlreadyInvited(BadRequest):
    """The address has a pending invitation."""

    default_message = "This address has a pending invitation. Withdraw that one before you send a new one."


class TooManyWaiting(RateLimitExceeded):
    """The organization has as many invitations without an answer as it may have."""

    limit = "waiting_invitations"
    counts = "invitations"
    default_message = Wording(
        "%(maximum)s invitations of this organization are waiting for an answer, which is the"
        " maximum. Withdraw some, or wait until they are answered or expire.",
        maximum=Grouped(WAITING_MAX),
    )


class InvitationExpired(Refusal):
    """The invitation has expired; returned instead of raised where the expiry has to be committed."""

    code = ErrorCode.INVITATION_EXPIRED
    default_message = (
        "This invitation has expired. It was valid for seven days; ask the person who invited you for a new one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation. `token` is the SHA-256 hash of the token, which only the creation returns."""

    id: UUID
    organization_id: UUID
    email: str
    role: str
    invited_by: UUID | None
    status: InvitationStatus
    token: str = field(repr=False)
    expires_at: datetime
    created_at: datetime
    # The slugs of the services that it includes and that still exist.
    services: list[str] = field(default_factory=list[str])
    message: str | None = field(default=None, repr=False)
    # What the inviter's list calls the person.
    name: str | None = field(default=None, repr=False)

    def is_open(self, at: datetime) -> bool:
        """Return whether it can be accepted at that time."""
        return self.status is InvitationStatus.PENDING and self.expires_at > at


@dataclass(frozen=True, slots=True, kw_only=True)
class Inviter:
    """The user who sent the invitation; placeholders when the account no longer exists."""

    id: str
    email: str
    created_at: datetime


# The same placeholders as for owners.
UNKNOWN_INVITER: Final = Inviter(
    id="unknown", email="deleted-user@unknown", created_at=datetime(1970, 1, 1, tzinfo=UTC)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentInvitation:
    """An invitation as members who manage others see it."""

    invitation: Invitation
    inviter: Inviter


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """A new invitation, and its token."""

    item: SentInvitation
    token: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationDetails:
    """The invitation of a token, with what the invited person needs to know before answering.

    The inviter's address is None when it is not verified. `service_names` are those of the included services.
    """

    invitation: Invitation
    proof_hash: bytes = field(repr=False)
    organization_slug: str
    organization_name: str
    organization_status: OrganizationStatus
    inviter_email: str | None
    service_names: list[str] = field(default_factory=list[str])

    def without_included(self) -> InvitationDetails:
        """Return what the holder of the token alone may see: neither message, name nor services."""
        invitation = replace(self.invitation, services=[], message=None, name=None)
        return replace(self, invitation=invitation, service_names=[])


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many open invitations an organization has, and when the first of them expires; None when there is none."""

    count: int
    first_expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueInvitation:
    """A pending invitation that is past its expiry, and its position in their queue."""

    id: UUID
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """How many invitations a sweep has expired, and where to continue; None when there are no more."""

    expired: int
    continue_after: DueInvitation | None


def require_may_invite(
    uow: UnitOfWork, slug: str, role: str, *, services: Sequence[str] = (), message: str | None = None
) -> None:
    """Refuse these values for an invitation to any address, before many people are invited.

    Each invitation checks the role itself.
    """
    access = authorize(uow, slug, Operation.INVITATIONS_CHANGE)
    if role != MEMBER:
        access.forbid_lasting()
    all_valid(
        lambda: included.checked_services(uow, access, services), lambda: included.checked_message_or_none(message)
    )


def invite(
    uow: UnitOfWork,
    slug: str,
    email: str,
    role: str,
    *,
    services: Sequence[str] = (),
    message: str | None = None,
    name: str | None = None,
) -> Invited:
    """Invite the person with an address to the organization, by mail, with services of it and a message.

    `name` is proposed to the person where they accept; an invalid one is left out.
    """
    # Locked, so that the role cannot be deleted and the person cannot join in the meantime.
    access = authorize_and_lock(uow, slug, Operation.INVITATIONS_CHANGE)
    organization, caller = access.organization, access.caller
    if not caller.account.is_verified:
        # The mail names the inviter, and any account can claim an address that it has not verified.
        raise AddressNotVerified
    _, address, included_services, words = all_valid(
        lambda: _require_role(uow, access, role),
        lambda: normalize_email(email, uow.domain_names.to_ascii),
        lambda: included.checked_services(uow, access, services),
        lambda: included.checked_message_or_none(message),
    )
    if uow.invitations.has_member(organization.id, address):
        raise AlreadyMember
    _require_room(uow, organization.id)

    token, proof = uow.randomness.mail_token(), uow.randomness.mail_token()
    invitation = Invitation(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        email=address,
        role=role,
        invited_by=caller.maker_id,
        status=InvitationStatus.PENDING,
        token=hash_token(token.reveal()).hex(),
        expires_at=uow.now + LIFETIME,
        created_at=uow.now,
        services=list(included_services),
        message=words,
        name=names.usable_or_none(name),
    )
    _expire_earlier(uow, invitation)
    service_ids = list(included_services.values())
    if not uow.invitations.add(invitation, token, proof_hash=hash_token(proof.reveal()), service_ids=service_ids):
        raise AlreadyInvited
    given: dict[str, Any] = {"services": invitation.services} if invitation.services else {}
    # The target is the invitation, because the organization must not learn whether the address has an account.
    uow.record(
        AuditAction.USER_INVITED,
        invitation.id,
        organization_id=organization.id,
        invited_email=address,
        role=role,
        **given,
    )
    mail.send(
        uow,
        address,
        MailTemplate.INVITATION,
        organization_id=organization.id,
        token=token.reveal(),
        proof=proof.reveal(),
        place=organization.name,
        inviter=caller.account.email,
        role=role,
    )
    inviter = Inviter(id=str(caller.account.id), email=caller.account.email, created_at=caller.account.created_at)
    return Invited(item=SentInvitation(invitation=invitation, inviter=inviter), token=token)


def list_page(
    uow: UnitOfWork, slug: str, status: InvitationStatus | None, *, limit: int, offset: int
) -> Sequence[SentInvitation]:
    """List the organization's invitations, the newest first."""
    organization = authorize(uow, slug, Operation.INVITATIONS_LIST).organization
    return uow.elsewhere.invitations.page(organization.id, status, limit=limit, offset=offset)


def revoke(uow: UnitOfWork, slug: str, invitation_id: UUID) -> None:
    """Withdraw a pending invitation."""
    access = authorize(uow, slug, Operation.INVITATIONS_CHANGE)
    organization_id = access.organization.id
    invitation = uow.invitations.find(organization_id, invitation_id)
    if invitation is None or not invitation.is_open(uow.now):
        raise NotFound("There is no such pending invitation.")
    access.require_no_less(capabilities_of_role(uow, organization_id, invitation.role), "withdraw the invitation of")
    if not uow.invitations.settle(organization_id, invitation_id, InvitationStatus.CANCELLED):
        raise NotFound("There is no such pending invitation.")
    _record_ended(uow, AuditAction.INVITATION_REVOKED, invitation)


def expire(uow: UnitOfWork, invitation: Invitation) -> None:
    """Mark an invitation as expired, unless another transaction has already ended it."""
    if uow.invitations.settle(invitation.organization_id, invitation.id, InvitationStatus.EXPIRED):
        _record_ended(uow, AuditAction.INVITATION_EXPIRED, invitation)


def are_due(uow: UnitOfWork) -> bool:
    """Return whether an invitation waits to be expired; it is one statement."""
    return bool(uow.invitations.due(None, 1))


def sweep(uow: UnitOfWork, after: DueInvitation | None, limit: int) -> Swept:
    """Expire invitations of active organizations that are due, at most `limit` of them."""
    due = uow.invitations.due(after, limit)
    expired = uow.invitations.expire([one.id for one in due])
    if expired:
        # Few statements, because the expired rows stay locked until the commit.
        uow.record_each(AuditAction.INVITATION_EXPIRED, expired)
    return Swept(expired=len(expired), continue_after=due[-1] if len(due) == limit else None)


def _record_ended(uow: UnitOfWork, action: AuditAction, invitation: Invitation) -> None:
    uow.record(
        action,
        invitation.id,
        organization_id=invitation.organization_id,
        event_only={"invitation_id": str(invitation.id)},
    )


def _require_role(uow: UnitOfWork, access: OrganizationAccess, role: str) -> None:
    """Refuse a role that cannot be given by invitation, and one that this member cannot give."""
    if role == MEMBER:
        return
    access.forbid_lasting()
    custom = uow.roles.by_slug(access.organization.id, role) if role not in BUILT_IN_ROLES else None
    is_unknown = role not in BUILT_IN_ROLES and custom is None
    # A program learns of a misspelt role, whatever roles its key may give: no other key would help.
    if not is_unknown or access.caller.limits.key_id is None:
        access.require(Capability.ORG_ROLES_MANAGE)
        forbid_admins(access, role)
    if role == OWNER:
        raise BadRequest.of_field(
            "role", "You cannot invite a person as owner. Invite an admin, then transfer the ownership."
        )
    if is_unknown:
        raise AssignedRoleUnknown
    if not may_invite_to(access.capabilities, role, capabilities_of(role, custom.permissions if custom else None)):
        raise Forbidden("You can only invite to a role that allows no more than your own. Ask an owner or admin.")


def _require_room(uow: UnitOfWork, organization_id: UUID) -> None:
    """Refuse one more invitation than may wait for an answer; the locked organization makes the count exact."""
    waiting = uow.invitations.waiting(organization_id)
    if uow.has_rate_limits and waiting.count >= WAITING_MAX and waiting.first_expires_at is not None:
        seconds = (waiting.first_expires_at - uow.now).total_seconds()
        raise TooManyWaiting(retry_after_seconds=ceil(seconds))


def _expire_earlier(uow: UnitOfWork, invitation: Invitation) -> None:
    """Expire an earlier invitation of the same address if it is past its expiry."""
    earlier = uow.invitations.pending(invitation.organization_id, invitation.email)
    if earlier is not None and not earlier.is_open(uow.now):
        expire(uow, earlier)
