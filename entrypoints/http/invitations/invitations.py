"""Inviting people to an organization, and their answers; `entrypoints/pages` has the pages of the mailed link."""

from uuid import UUID

import msgspec

from core.errors import (
    BadRequest,
    Forbidden,
    NotFound,
    OrganizationNotActive,
    RateLimitExceeded,
    TokenExpired,
    TokenInvalid,
    Unauthorized,
)
from core.invitations import invitations, own_invitations
from core.invitations.invitations import (
    AlreadyInvited,
    AlreadyMember,
    Invitation,
    InvitationStatus,
    Inviter,
    SentInvitation,
)
from core.invitations.new_members import CANNOT_JOIN, InvitationAnswered
from core.invitations.own_invitations import InvitationUnknown, ReceivedInvitation
from core.organizations.access import Operation
from core.organizations.management import AddressNotVerified
from core.organizations.members import AssignedRoleUnknown
from core.rate_limits import RateLimit
from entrypoints.web.input.decoding import Paged
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.admitting import admit_if_signed_in
from entrypoints.web.serving.admission.credentials import account_wide, in_organization, public
from entrypoints.web.serving.answering.bodies import Empty, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("invitations", "Inviting people to an organization, and their answers.")


class InvitationCreation(msgspec.Struct, kw_only=True):
    """The person to invite; `role` is `member`, `admin`, or the slug of a role of the organization."""

    email: str
    role: str
    services: list[str] = msgspec.field(default_factory=list[str])
    message: str | None = None


class InvitationRecord(Record, of=Invitation, without=("name",)):
    """An invitation. `token` is the SHA-256 hash of the token; only the creation returns the token itself."""


class SentInvitationRecord(Record, of=SentInvitation):
    """An invitation as members who manage others see it."""

    invitation: InvitationRecord


class CreatedInvitation(SecretBody, kw_only=True):
    """The new invitation. `token` is shown here only; `invitation` contains its SHA-256."""

    invitation: InvitationRecord
    inviter: Inviter
    token: str


class InvitationsWanted(Paged, kw_only=True):
    """Which invitations to list; without `status`, all."""

    status: InvitationStatus | None = None


class InvitingOrganization(msgspec.Struct, kw_only=True):
    """The organization of an invitation."""

    slug: str
    name: str


class ReceivedInvitationRecord(
    Record, SecretBody, of=ReceivedInvitation, without=("organization_slug", "organization_name")
):
    """A pending invitation of the caller."""

    token: str
    organization: InvitingOrganization


class InvitationAcceptance(SecretBody, kw_only=True):
    """The token of an invitation, and the proof from the mailed link that the address is yours."""

    token: UUID
    proof: UUID | None = None


class InvitationDecline(SecretBody, kw_only=True):
    """The token of an invitation, and the proof from the mailed link that the address is yours."""

    token: UUID
    proof: UUID | None = None


@routes.post(
    "/api/organizations/:org_slug/invitations",
    refuses=(BadRequest, AssignedRoleUnknown, AlreadyMember, AlreadyInvited, AddressNotVerified, RateLimitExceeded),
)
@in_organization(Operation.INVITATIONS_CHANGE)
async def invite(call: Call, org_slug: str, body: InvitationCreation) -> CreatedInvitation:
    """Invite a person by mail.

    An invitation is valid for seven days and can be accepted once. A role other than `member` also requires the
    capability `org.roles.manage`, and may only contain capabilities that you have. You cannot invite an owner. How many
    invitations an organization sends, and an address gets, is limited. Services, which the person is linked to for as
    long as the membership lasts, require the capability `end_users.manage` as well.
    """
    invited = await call.transact(
        invitations.invite, org_slug, body.email, body.role, services=body.services, message=body.message
    )
    return CreatedInvitation(
        invitation=InvitationRecord.of(invited.item.invitation),
        inviter=invited.item.inviter,
        token=invited.token.reveal(),
    )


@routes.get("/api/organizations/:org_slug/invitations")
@in_organization(Operation.INVITATIONS_LIST)
async def list_invitations(call: Call, org_slug: str, query: InvitationsWanted) -> list[SentInvitationRecord]:
    """List the organization's invitations, the newest first."""
    offset = (query.page - 1) * query.limit
    found = await call.read(invitations.list_page, org_slug, query.status, limit=query.limit, offset=offset)
    return [SentInvitationRecord.of(sent, invitation=InvitationRecord.of(sent.invitation)) for sent in found]


@routes.post("/api/organizations/:org_slug/invitations/:invitation_id", refuses=(NotFound,))
@in_organization(Operation.INVITATIONS_CHANGE)
async def revoke(call: Call, org_slug: str, invitation_id: UUID) -> Empty:
    """Revoke a pending invitation."""
    await call.transact(invitations.revoke, org_slug, invitation_id)
    return Empty()


@routes.post(
    "/api/organizations/:org_slug/invitations/:invitation_id/accept",
    refuses=(NotFound, RateLimitExceeded, *CANNOT_JOIN),
)
@in_organization(Operation.INVITATIONS_CHANGE)
async def accept_on_behalf(call: Call, org_slug: str, invitation_id: UUID) -> Empty:
    """Make the invited person a member at once, without waiting for their answer.

    If the address has no account yet, one is created. The person gets a mail whose link confirms the membership or
    ends it. Until they confirm or use it, the organization cannot export or anonymize them and gets none of their
    events. The role may only contain capabilities that you have.
    """
    await call.transact(own_invitations.accept_on_behalf, org_slug, invitation_id)
    return Empty()


@routes.get("/api/invitations", refuses=(Forbidden,))
@account_wide
async def list_mine(call: Call) -> list[ReceivedInvitationRecord]:
    """List the pending invitations of your address, which has to be verified."""
    return [
        ReceivedInvitationRecord.of(
            mine,
            token=mine.token.reveal(),
            organization=InvitingOrganization(slug=mine.organization_slug, name=mine.organization_name),
        )
        for mine in await call.read(own_invitations.list_mine)
    ]


@routes.post(
    "/api/invitations/accept",
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, Unauthorized, TokenExpired, TokenInvalid, *CANNOT_JOIN),
)
@public
async def accept(call: Call, body: InvitationAcceptance) -> Empty:
    """Join the organization that the token invites to.

    The account of the invited address becomes a member; if there is none, one is created without a password. The proof
    of the mailed link verifies the address, and you get a mail to choose a password if you need one. Without the
    proof, an unverified address has to be verified before it can be used to sign in. Send your access token too if you
    are signed in: without it and without the proof the membership is not confirmed before you use it.
    """
    await admit_if_signed_in(call)
    await call.transact(own_invitations.accept, str(body.token), _text(body.proof))
    return Empty()


@routes.post(
    "/api/invitations/decline",
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@public
async def decline(call: Call, body: InvitationDecline) -> Empty:
    """Decline an invitation by its token, even if it has expired.

    If a manager has accepted it for you, the proof is required too, and you leave the organization.
    """
    await call.transact(own_invitations.decline, str(body.token), _text(body.proof))
    return Empty()


def _text(value: UUID | None) -> str | None:
    return str(value) if value is not None else None
