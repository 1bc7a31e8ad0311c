"""Inviting people to an organization, and their answers; `entrypoints/pages` has the pages of the mailed link."""

from datetime import datetime
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
from core.invitations import answers, invitations
from core.invitations.acceptance import InvitationAnswered, InvitedRoleGone, TeamLimitExceeded
from core.invitations.answers import InvitationUnknown
from core.invitations.invitations import (
    AlreadyInvited,
    AlreadyMember,
    Invitation,
    InvitationExpired,
    InvitationItem,
    InvitationStatus,
    Inviter,
)
from core.organizations.access import Operation
from core.organizations.creation import AddressNotVerified
from core.organizations.members import AssignedRoleUnknown
from core.rate_limits import RateLimit
from entrypoints.web.bodies import Empty
from entrypoints.web.calls import Call
from entrypoints.web.credentials import account_wide, admit_if_signed_in, in_organization, public
from entrypoints.web.decoding import Paged
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes("invitations", "Inviting people to an organization, and their answers.")

CANNOT_JOIN = (
    InvitationExpired,
    InvitationAnswered,
    InvitedRoleGone,
    AlreadyMember,
    TeamLimitExceeded,
    OrganizationNotActive,
)


class InvitationWanted(msgspec.Struct, kw_only=True):
    """The person to invite; `role` is `member`, `admin`, or the slug of a role of the organization."""

    email: str
    role: str


class InvitationCreated(SecretBody, kw_only=True):
    """The new invitation. `token` is shown here only; `invitation` contains its SHA-256."""

    invitation: Invitation
    inviter: Inviter
    token: str


class InvitationsWanted(Paged, kw_only=True):
    """Which invitations to list; without `status` those of every status."""

    status: InvitationStatus | None = None


class InvitingOrganization(msgspec.Struct, kw_only=True):
    """The organization of an invitation."""

    slug: str
    name: str


class InvitationOfMine(SecretBody, kw_only=True):
    """A pending invitation of the caller."""

    id: UUID
    email: str
    role: str
    token: str
    expires_at: datetime
    created_at: datetime
    organization: InvitingOrganization


class Acceptance(SecretBody, kw_only=True):
    """The token of an invitation, and the proof from the mailed link that the address is yours."""

    token: UUID
    proof: UUID | None = None


class Declining(SecretBody, kw_only=True):
    """The token of an invitation, and the proof from the mailed link that the address is yours."""

    token: UUID
    proof: UUID | None = None


@routes.post(
    "/api/organizations/:org_slug/invitations",
    refuses=(BadRequest, AssignedRoleUnknown, AlreadyMember, AlreadyInvited, AddressNotVerified, RateLimitExceeded),
)
@in_organization(Operation.INVITATIONS_CHANGE)
async def invite(call: Call, org_slug: str, body: InvitationWanted) -> InvitationCreated:
    """Invite a person by mail.

    An invitation is valid for seven days and can be accepted once. A role other than `member` also requires the
    capability `org.roles.manage`, and may only contain capabilities that you have. You cannot invite an owner. How many
    invitations an organization sends, and an address gets, is limited.
    """
    invited = await call.transact(invitations.invite, org_slug, body.email, body.role)
    return InvitationCreated(
        invitation=invited.item.invitation, inviter=invited.item.inviter, token=invited.token.reveal()
    )


@routes.get("/api/organizations/:org_slug/invitations")
@in_organization(Operation.INVITATIONS_LIST)
async def list_invitations(call: Call, org_slug: str, query: InvitationsWanted) -> list[InvitationItem]:
    """List the organization's invitations, the newest first."""
    offset = (query.page - 1) * query.limit
    return list(await call.read(invitations.list_page, org_slug, query.status, limit=query.limit, offset=offset))


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
    await call.transact(answers.accept_on_behalf, org_slug, invitation_id)
    return Empty()


@routes.get("/api/invitations", refuses=(Forbidden,))
@account_wide
async def list_mine(call: Call) -> list[InvitationOfMine]:
    """List the pending invitations of your address, which has to be verified."""
    return [
        InvitationOfMine(
            id=mine.id,
            email=mine.email,
            role=mine.role,
            token=mine.token.reveal(),
            expires_at=mine.expires_at,
            created_at=mine.created_at,
            organization=InvitingOrganization(slug=mine.organization_slug, name=mine.organization_name),
        )
        for mine in await call.read(answers.list_mine)
    ]


@routes.post(
    "/api/invitations/accept",
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, Unauthorized, TokenExpired, TokenInvalid, *CANNOT_JOIN),
)
@public
async def accept(call: Call, body: Acceptance) -> Empty:
    """Join the organization that the token invites to.

    The account of the invited address becomes a member; if there is none, one is created without a password. The proof
    of the mailed link verifies the address, and you get a mail to choose a password if you need one. Without the
    proof, an unverified address has to be verified before it can be used to sign in. Send your access token too if you
    are signed in: without it and without the proof the membership is not confirmed before you use it.
    """
    await admit_if_signed_in(call)
    await call.transact(answers.accept, str(body.token), _text(body.proof))
    return Empty()


@routes.post(
    "/api/invitations/decline",
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@public
async def decline(call: Call, body: Declining) -> Empty:
    """Decline an invitation by its token, even if it has expired.

    If a manager has accepted it for you, the proof is required too, and you leave the organization.
    """
    await call.transact(answers.decline, str(body.token), _text(body.proof))
    return Empty()


def _text(value: UUID | None) -> str | None:
    return str(value) if value is not None else None
