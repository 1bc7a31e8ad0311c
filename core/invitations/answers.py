"""What the invited answer: seeing one's invitations, accepting, declining; and a manager's accepting in their place.

What it takes to become a member by an invitation, and what follows, is in `invitation_acceptance.py`.
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
    from core.invitations.invitations import Presented
    from core.secrets import Secret
    from ports.unit_of_work import UnitOfWork

# More than anybody is invited to at once; what is beyond comes when some of these are answered.
MINE_MAX: Final = 100


class InvitationUnknown(BadRequest):
    """There is no invitation with this token."""

    default_message = (
        "This invitation is not valid. Open the link exactly as it stands in the letter, or ask whoever invited you"
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
    # Whoever has a token can answer without signing in, so it would leave no trace of the impersonator.
    caller.forbid_impersonation()
    if not caller.is_verified:
        raise Forbidden("Verify your email address first; then you see who has invited it.")
    return uow.invitations.waiting_for(caller.email, MINE_MAX)


def inspect(uow: UnitOfWork, token: str) -> Presented:
    """Find the invitation of a token that can be accepted; looking changes nothing."""
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
    """Join the organization that the token invites to; a proof that is none is no better than a wrong token."""
    presented = _presented(uow, token)
    if proof is not None and not hmac.compare_digest(hash_token(proof), presented.proof_hash):
        raise InvitationUnknown
    invitation = presented.invitation
    # From here on nobody else joins, and no role goes, so of two who race for the last seat one finds it taken.
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
        raise NotFound("There is no such invitation that still waits for an answer.")
    return acceptance.join(uow, organization, invitation, is_proved=False, is_on_behalf=True)


def decline(uow: UnitOfWork, token: str) -> Presented:
    """Refuse the invitation of a token, also one that has run out."""
    presented = _presented(uow, token)
    if presented.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    invitation = presented.invitation
    if not uow.invitations.settle(invitation.org_id, invitation.id, InvitationStatus.REJECTED):
        raise InvitationAnswered
    # Done by nobody in particular: that the address has an account is not the organization's to know.
    uow.record(
        AuditAction.INVITATION_DECLINED,
        invitation.id,
        organization_id=invitation.org_id,
        event_only={"invitation_id": str(invitation.id)},
    )
    return presented


def _presented(uow: UnitOfWork, token: str) -> Presented:
    presented = uow.invitations.by_token(hash_token(token))
    if presented is None:
        raise InvitationUnknown
    return presented
