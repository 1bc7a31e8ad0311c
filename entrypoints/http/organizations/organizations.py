"""Organizations as their people see, change, enter and delete them."""

from typing import Annotated

import msgspec

from core.errors import OrganizationNotActive
from core.organizations import creation, management, selection
from core.organizations.access import DeviceTrustedTooLongAgo, Operation, SecondFactorRequired
from core.organizations.creation import AddressNotVerified, Founded, Person, SlugTaken, TooManyPending
from core.organizations.management import OrganizationDetail, OrganizationOfMine, OrganizationSettings
from core.organizations.memberships import Membership
from core.organizations.organizations import DEVICE_TRUST_DAYS_MAX, Organization
from entrypoints.http.sessions.token_answers import Tokens, signed
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization, signed_in
from entrypoints.web.routes import Routes

routes = Routes(
    "organizations",
    "The customers of the platform. Whoever has a verified address founds one; it can be worked in once it is active.",
)


class Founding(msgspec.Struct, kw_only=True):
    """What a new organization is called, in paths and to people; the slug never changes."""

    slug: str
    name: str


class OrganizationChange(msgspec.Struct, kw_only=True):
    """What is to change; what is not named stays."""

    name: str | None = None
    mfa_required: bool | None = None
    device_trust_days: Annotated[int, msgspec.Meta(ge=0, le=DEVICE_TRUST_DAYS_MAX)] | None = None


class OrganizationRecord(msgspec.Struct, kw_only=True):
    """An organization as it is now."""

    organization: Organization


class SelectedOrganization(Tokens, kw_only=True):
    """Who works in the organization now, in which role, and with which tokens."""

    user: Person
    membership: Membership


@routes.post("/api/organizations", refuses=(TooManyPending, AddressNotVerified, SlugTaken))
@signed_in
async def create_organization(call: Call, body: Founding) -> Founded:
    """Found an organization, which is yours.

    Unless the installation approves every organization by itself, it waits until a platform owner approves it.
    """
    is_welcome = call.installation.settings.auto_approve
    return await call.transact(creation.create, body.slug, body.name, is_welcome=is_welcome)


@routes.get("/api/organizations")
@signed_in
async def list_organizations(call: Call) -> list[OrganizationOfMine]:
    """List the organizations that you are a member of, by their slugs."""
    return list(await call.read(management.list_mine))


@routes.get("/api/organizations/:slug")
@in_organization(Operation.ORGANIZATION_READ)
async def read_organization(call: Call, slug: str) -> OrganizationDetail:
    """Show an organization, in whichever state it is."""
    return await call.read(management.read, slug)


@routes.patch("/api/organizations/:slug", refuses=(OrganizationNotActive,))
@in_organization(Operation.ORGANIZATION_UPDATE)
async def change_organization(call: Call, slug: str, body: OrganizationChange) -> OrganizationRecord:
    """Change what an organization is called, and what it asks of its members.

    Where `mfa_required` is set, members need a second factor to sign in to it, to select it, and to do anything there
    but read and change the organization itself. A device that remembers the second factor does so for
    `device_trust_days`; 0 is never.
    """
    settings = OrganizationSettings(
        name=body.name, mfa_required=body.mfa_required, device_trust_days=body.device_trust_days
    )
    return OrganizationRecord(organization=await call.transact(management.change, slug, settings))


@routes.delete("/api/organizations/:slug", status=204, refuses=(OrganizationNotActive,))
@in_organization(Operation.ORGANIZATION_DELETE)
async def delete_organization(call: Call, slug: str) -> None:
    """Delete an organization with everything that belongs to it, for good; a suspended one stays."""
    await call.transact(management.delete, slug)


@routes.post(
    "/api/organizations/:slug/select",
    refuses=(OrganizationNotActive, SecondFactorRequired, DeviceTrustedTooLongAgo),
)
@in_organization(Operation.ORGANIZATION_SELECT)
async def select_organization(call: Call, slug: str) -> SelectedOrganization:
    """Go on with your session in an organization.

    The session leaves the organization that it was in; one with a service selects nothing. Its refresh token is
    exchanged, so keep the new one.
    """
    selected = await call.transact(selection.select, slug)
    tokens = signed(call, selected.grant)
    return SelectedOrganization(
        user=selected.user,
        membership=selected.membership,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_in=tokens.expires_in,
    )
