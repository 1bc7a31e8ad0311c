"""Organizations as their members create, read, change, select and delete them."""

from typing import Annotated

import msgspec

from core.errors import BadRequest, OrganizationNotActive
from core.organizations import deletion, management, members
from core.organizations.access import Operation
from core.organizations.management import (
    AddressNotVerified,
    CreatedOrganization,
    OrganizationDetails,
    OrganizationMembership,
    OrganizationSettings,
    PersonSummary,
    SlugTaken,
    TooManyPending,
)
from core.organizations.organizations import DEVICE_TRUST_DAYS_MAX, MembershipStatus, Organization
from core.organizations.session_strength import DeviceTrustedTooLongAgo, SecondFactorRequired
from entrypoints.http.organizations.members import MembershipRecord
from entrypoints.shared.sessions.token_answers import Tokens, signed
from entrypoints.web.input.metadata import MetadataFields, patch_of
from entrypoints.web.serving.admission.credentials import in_organization, signed_in
from entrypoints.web.serving.answering.bodies import Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "organizations",
    "The customers of the platform. Every user with a verified address can create one; it is usable once it is active.",
)


class OrganizationCreation(msgspec.Struct, kw_only=True):
    """The slug of a new organization for paths, which never changes, and its name for people."""

    slug: str
    name: str


class OrganizationUpdate(Input, of=OrganizationSettings):
    """The fields to change; omitted fields keep their values."""

    device_trust_days: Annotated[int, msgspec.Meta(ge=0, le=DEVICE_TRUST_DAYS_MAX)] | None = None
    metadata: MetadataFields | msgspec.UnsetType = msgspec.UNSET


class OrganizationRecord(msgspec.Struct, kw_only=True):
    """The current state of an organization."""

    organization: Organization


class CreatedOrganizationRecord(Record, of=CreatedOrganization):
    """A new organization, with its owner."""

    membership: MembershipRecord


class OrganizationMembershipRecord(Record, of=OrganizationMembership, without=("is_suspended",)):
    """An organization of the user, with their membership and its tier."""

    membership: MembershipRecord


class SelectedOrganization(Tokens, kw_only=True):
    """The user, their membership of the selected organization, and the new tokens."""

    user: PersonSummary
    membership: MembershipRecord


@routes.post("/api/organizations", refuses=(TooManyPending, AddressNotVerified, SlugTaken))
@signed_in
async def create_organization(call: Call, body: OrganizationCreation) -> CreatedOrganizationRecord:
    """Create an organization, which you own.

    Unless the installation approves organizations automatically, it is pending until a platform owner approves it.
    """
    is_welcome = call.installation.settings.auto_approve
    created = await call.transact(management.create, body.slug, body.name, is_welcome=is_welcome)
    return CreatedOrganizationRecord.of(
        created, membership=MembershipRecord.of(created.membership, status=MembershipStatus.ACTIVE)
    )


@routes.get("/api/organizations")
@signed_in
async def list_organizations(call: Call) -> list[OrganizationMembershipRecord]:
    """List the organizations that you are a member of, sorted by slug.

    Where `membership.status` is `inactive`, the organization has deactivated you: you have no access until it activates
    you again, and may leave.
    """
    return [
        OrganizationMembershipRecord.of(
            mine,
            membership=MembershipRecord.of(
                mine.membership, status=MembershipStatus.of(is_active=not mine.is_suspended)
            ),
        )
        for mine in await call.read(management.list_mine)
    ]


@routes.get("/api/organizations/:slug")
@in_organization(Operation.ORGANIZATION_READ)
async def read_organization(call: Call, slug: str) -> OrganizationDetails:
    """Show an organization, whatever its state."""
    return await call.read(management.read, slug)


@routes.patch("/api/organizations/:slug", refuses=(OrganizationNotActive,))
@in_organization(Operation.ORGANIZATION_UPDATE)
async def change_organization(call: Call, slug: str, body: OrganizationUpdate) -> OrganizationRecord:
    """Change the name of an organization, and what it requires of its members.

    If `mfa_required` is set, members need a second factor to sign in to the organization, to select it, and for
    everything in it except reading and changing the organization itself. A trusted device remembers the second factor
    for `device_trust_days`; 0 means never.
    """
    settings = body.to(OrganizationSettings)
    changed = await call.transact(management.change, slug, settings, patch_of(body.metadata))
    return OrganizationRecord(organization=changed)


@routes.delete("/api/organizations/:slug", status=204, refuses=(OrganizationNotActive,))
@in_organization(Operation.ORGANIZATION_DELETE)
async def delete_organization(call: Call, slug: str) -> None:
    """Delete an organization; a suspended one cannot be deleted.

    Everything that it has issued ends at once, and no one can find it. For 14 days you can restore it on the page of
    your organizations, without what has ended; then it is deleted permanently, with everything that belongs to it. An
    organization that never had another member is deleted permanently at once.
    """
    await call.transact(deletion.delete, slug)


@routes.post("/api/organizations/:slug/leave", status=204, refuses=(BadRequest,))
@in_organization(Operation.ORGANIZATION_LEAVE)
async def leave_organization(call: Call, slug: str) -> None:
    """Leave an organization, whatever its state; the owner has to transfer the ownership first."""
    await call.transact(members.leave, slug)


@routes.post(
    "/api/organizations/:slug/select",
    refuses=(OrganizationNotActive, SecondFactorRequired, DeviceTrustedTooLongAgo),
)
@in_organization(Operation.ORGANIZATION_SELECT)
async def select_organization(call: Call, slug: str) -> SelectedOrganization:
    """Select the organization that your session works in.

    The session leaves its previous organization. A session with a service cannot select one. The refresh token is
    replaced, so store the new one.
    """
    selected = await call.transact(management.select, slug)
    tokens = signed(call, selected.grant)
    return SelectedOrganization(
        user=selected.user,
        membership=MembershipRecord.of(selected.membership, status=MembershipStatus.ACTIVE),
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_in=tokens.expires_in,
    )
