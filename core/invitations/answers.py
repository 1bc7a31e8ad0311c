"""Answers to invitations: listing one's own, accepting, declining, and accepting on behalf of the invited person.

How a member is added by an invitation is in `acceptance.py`.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Refusal
from core.events.actions import AuditAction
from core.invitations import acceptance
from core.invitations.acceptance import InvitationAnswered
from core.invitations.invitations import InvitationExpired, InvitationStatus
from core.organizations.access import Operation, authorize_and_lock
from core.organizations.organizations import OrganizationStatus
from core.secrets import hash_token

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.invitations.acceptance import Joined
    from core.invitations.invitations import InvitationDetails
    from core.secrets import Secret
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


def list_mine(uow: UnitOfWork) -> Sequence[ReceivedInvitation]:
    """List the invitations that wait for the caller's answer, the newest first."""
    caller = uow.caller
    # A token can be used without signing in, so an answer by the impersonator would leave no trace of them.
    caller.forbid_impersonation()
    if not caller.is_verified:
        raise Forbidden("Verify your email address first; then you can see the invitations to it.")
    return uow.invitations.pending_for(caller.email, LISTED_MAX)


def inspect(uow: UnitOfWork, token: str) -> InvitationDetails:
    """Return the invitation of a token if it can be accepted; this changes nothing."""
    presented = _presented(uow, token)
    if presented.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    invitation = presented.invitation
    if invitation.status not in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}:
        raise InvitationAnswered
    if not invitation.is_open(uow.now):
        raise InvitationExpired
    return presented


def accept(uow: UnitOfWork, token: str, proof: str | None) -> Joined | Refusal:
    """Join the organization that the token invites to; a wrong proof is refused like a wrong token."""
    presented = _presented(uow, token)
    if proof is not None and not hmac.compare_digest(hash_token(proof), presented.proof_hash):
        raise InvitationUnknown
    invitation = presented.invitation
    # While it is locked, no other person joins and no role is deleted, so of two who race for the last seat one fails.
    organization = uow.organizations.lock(invitation.org_id)
    if organization is None or not organization.is_active:
        raise OrganizationNotActive
    if invitation.status not in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}:
        raise InvitationAnswered
    return acceptance.join(uow, organization, invitation, is_proved=proof is not None, is_on_behalf=False)


def accept_on_behalf(uow: UnitOfWork, slug: str, invitation_id: UUID) -> Joined | Refusal:
    """Make the invited person a member without waiting for their answer."""
    organization = authorize_and_lock(uow, slug, Operation.INVITATIONS_CHANGE).organization
    invitation = uow.invitations.find(organization.id, invitation_id)
    if invitation is None or invitation.status not in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}:
        raise NotFound("There is no such pending invitation.")
    return acceptance.join(uow, organization, invitation, is_proved=False, is_on_behalf=True)


def decline(uow: UnitOfWork, token: str) -> InvitationDetails:
    """Decline the invitation of a token, even if it has expired."""
    presented = _presented(uow, token)
    if presented.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    invitation = presented.invitation
    if not uow.invitations.settle(invitation.org_id, invitation.id, InvitationStatus.REJECTED):
        raise InvitationAnswered
    # Without an actor, because the organization must not learn whether the address has an account.
    uow.record(
        AuditAction.INVITATION_DECLINED,
        invitation.id,
        organization_id=invitation.org_id,
        event_only={"invitation_id": str(invitation.id)},
    )
    return presented


def _presented(uow: UnitOfWork, token: str) -> InvitationDetails:
    presented = uow.invitations.by_token(hash_token(token))
    if presented is None:
        raise InvitationUnknown
    return presented
