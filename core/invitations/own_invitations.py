"""Answers to invitations: listing one's own, accepting, declining, and accepting on behalf of the invited person.

How a member is added by an invitation is in `new_members.py`. After a manager has accepted on the person's behalf, the
person can still answer the invitation: accepting then confirms the membership, declining ends it.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.users import User
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Refusal
from core.events.actions import AuditAction
from core.invitations import confirmation, included, new_members
from core.invitations.invitations import Invitation, InvitationDetails, InvitationExpired, InvitationStatus
from core.invitations.new_members import AcceptedBy, InvitationAnswered, Joined
from core.lazy_dataclasses import dataclass
from core.organizations import members
from core.organizations.access import Operation
from core.organizations.authorization import authorize_and_lock, capabilities_of_role
from core.organizations.key_callers import forbid_admins
from core.organizations.organizations import MEMBER, Membership, OrganizationStatus
from core.secrets import Secret, hash_token
from core.sessions.caller_limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than any person has at once; those beyond it are listed once some of these are answered.
LISTED_MAX: Final = 100


class InvitationUnknown(BadRequest):
    """There is no invitation with this token."""

    default_message = (
        "This invitation is not valid. Open the link exactly as it is in the mail, or ask the person who invited you"
        " for a new one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedInvitation:
    """An invitation as the invited person sees it after signing in."""

    id: UUID
    email: str
    role: str
    token: Secret
    expires_at: datetime
    created_at: datetime
    organization_slug: str
    organization_name: str
    service_names: list[str]
    message: str | None = field(repr=False)


def list_mine(uow: UnitOfWork) -> Sequence[ReceivedInvitation]:
    """List the invitations that wait for the caller's answer, the newest first, within the limits of the session."""
    caller = uow.caller
    if caller.has_service_token or caller.limits.confined_to is None:
        # A token can be used without signing in, so an answer by an impersonator, or by a service that shares the
        # account, would leave no trace of them.
        caller.require(Act.WHOLE_ACCOUNT)
    if not caller.account.is_verified:
        raise Forbidden("Verify your email address first; then you can see the invitations to it.")
    # A confined session shows the invitations of its organization, which has made them itself.
    found = uow.invitations.pending_for(caller.account.email, LISTED_MAX, within=caller.limits.confined_to)
    if caller.limits.lacks_mailed_proof:
        # The session may belong to the person who had the address before.
        return [replace(one, service_names=[], message=None) for one in found]
    return found


def inspect(uow: UnitOfWork, token: str, proof: str | None) -> InvitationDetails:
    """Return the invitation of a token if it can be answered; this changes nothing."""
    presented = _presented(uow, token, proof)
    if presented.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    invitation = presented.invitation
    if proof is not None and _unconfirmed(uow, invitation, uow.users.by_email(invitation.email)) is not None:
        return presented
    if not _is_unanswered(invitation):
        raise InvitationAnswered
    if not invitation.is_open(uow.now):
        raise InvitationExpired
    return presented


def accept(
    uow: UnitOfWork,
    token: str,
    proof: str | None,
    *,
    is_signing_in: bool = False,
    is_before_connection: bool = False,
) -> Joined | Refusal:
    """Join the organization that the token invites to; a wrong proof is refused like a wrong token.

    On its page a person signs in at once, and needs no mail for that (`joining.py`).
    """
    invitation = _presented(uow, token, proof).invitation
    # While it is locked, no other person joins and no role is deleted, so of two who race for the last seat one fails.
    organization = uow.organizations.lock(invitation.organization_id)
    if organization is None or not organization.is_active:
        raise OrganizationNotActive
    accepted = accepted_by(uow, invitation, proof)
    if is_before_connection:
        assert accepted is AcceptedBy.PROOF, "a connection follows an acceptance without the proof"
        accepted = AcceptedBy.PROOF_BEFORE_CONNECTION
    if _is_unanswered(invitation):
        return new_members.join(uow, organization, invitation, accepted, is_signing_in=is_signing_in)
    user = uow.users.lock_by_email(invitation.email)
    membership = _unconfirmed(uow, invitation, user)
    if user is None or membership is None or user.is_disowned or not accepted.is_consent:
        raise InvitationAnswered
    if is_before_connection and not user.is_verified:
        # The sign-in proves the address, and the person confirms the membership by using it.
        return new_members.joined(organization, user)
    return confirmation.confirm_by_proof(uow, organization, membership, user, is_signing_in=is_signing_in)


def accept_on_behalf(uow: UnitOfWork, slug: str, invitation_id: UUID) -> Joined | Refusal:
    """Make the invited person a member without waiting for their answer; a mail lets them confirm it or leave."""
    access = authorize_and_lock(uow, slug, Operation.INVITATIONS_CHANGE)
    organization = access.organization
    invitation = uow.invitations.find(organization.id, invitation_id)
    if invitation is None or not _is_unanswered(invitation):
        raise NotFound("There is no such pending invitation.")
    access.require_no_less(capabilities_of_role(uow, organization.id, invitation.role), "accept on behalf of")
    forbid_admins(access, invitation.role)
    included.require_right(access, invitation.services)
    if invitation.role != MEMBER:
        access.forbid_lasting()
    return new_members.join(uow, organization, invitation, AcceptedBy.MANAGER)


def decline(uow: UnitOfWork, token: str, proof: str | None) -> InvitationDetails:
    """Decline the invitation of a token, even if it has expired.

    With the proof, this ends a membership that a manager has made of the invitation and that is not confirmed.
    """
    presented = _presented(uow, token, proof)
    if presented.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    invitation = presented.invitation
    if proof is not None and invitation.status is InvitationStatus.ACCEPTED:
        uow.organizations.lock(invitation.organization_id)
        user = uow.users.lock_by_email(invitation.email)
        membership = _unconfirmed(uow, invitation, user)
        if user is None or membership is None:
            raise InvitationAnswered
        members.leave_unconfirmed(uow, membership, user.email)
        return presented
    if not uow.invitations.settle(invitation.organization_id, invitation.id, InvitationStatus.REJECTED):
        raise InvitationAnswered
    # Without an actor, because the organization must not learn whether the address has an account.
    uow.record(
        AuditAction.INVITATION_DECLINED,
        invitation.id,
        organization_id=invitation.organization_id,
        event_only={"invitation_id": str(invitation.id)},
    )
    return presented


def _presented(uow: UnitOfWork, token: str, proof: str | None) -> InvitationDetails:
    presented = uow.invitations.by_token(hash_token(token))
    if presented is None:
        raise InvitationUnknown
    if proof is not None and not hmac.compare_digest(hash_token(proof), presented.proof_hash):
        raise InvitationUnknown
    return presented


def _is_unanswered(invitation: Invitation) -> bool:
    return invitation.status in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}


def accepted_by(uow: UnitOfWork, invitation: Invitation, proof: str | None) -> AcceptedBy:
    """Return how this acceptance shows the consent of the invited person."""
    if proof is not None:
        return AcceptedBy.PROOF
    caller = uow.caller_if_signed_in
    if caller is None or caller.limits.is_impersonated or caller.is_limited or not caller.account.is_verified:
        return AcceptedBy.UNPROVED
    if caller.limits.lacks_mailed_proof:
        return AcceptedBy.UNPROVED
    return AcceptedBy.PERSON if caller.account.email == invitation.email else AcceptedBy.UNPROVED


def _unconfirmed(uow: UnitOfWork, invitation: Invitation, user: User | None) -> Membership | None:
    """Return the membership of a user that was made of an accepted invitation, if it is not confirmed."""
    if user is None or invitation.status is not InvitationStatus.ACCEPTED:
        return None
    return uow.members.unconfirmed(invitation.organization_id, user.id)
