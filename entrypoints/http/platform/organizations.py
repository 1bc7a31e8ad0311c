"""Organizations as platform owners manage them."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.limits import REASON_CHARACTERS_MAX
from core.organizations.organizations import OrganizationStatus, WrongState
from core.organizations.tiers import TierUnknown
from core.platform import organizations as platform_organizations
from core.platform.organizations import OrganizationUnknown, PlatformOrganization
from entrypoints.http.organizations.organizations import OrganizationRecord
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.serving.admission.credentials import platform_owner, platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform organizations", "Managing all organizations and their tiers, for platform owners.")

Reason = Annotated[str, msgspec.Meta(max_length=REASON_CHARACTERS_MAX)]


class OrganizationsQuery(Sliced, kw_only=True):
    """Filters: a state and a tier."""

    status: OrganizationStatus | None = None
    tier_id: UUID | None = None


class OrganizationApproval(msgspec.Struct, kw_only=True):
    """The tier to begin in; by default the one that the organization has."""

    tier_id: UUID | None = None


class OrganizationRejection(msgspec.Struct, kw_only=True):
    """The reason, which the members of the organization can read."""

    reason: Reason


class OrganizationSuspension(msgspec.Struct, kw_only=True):
    """An optional reason, which the members of the organization can read."""

    reason: Reason | None = None


class PlatformOrganizationList(msgspec.Struct, kw_only=True):
    """A page of organizations, and the total number."""

    organizations: list[PlatformOrganization]
    total: int


@routes.get("/api/platform/organizations")
@platform_support
async def list_organizations(call: Call, query: OrganizationsQuery) -> PlatformOrganizationList:
    """List organizations, the newest first.

    The id of an owner whose account no longer exists is `unknown`. An organization that a vendor has made for a
    customer, and that is not claimed yet, is `unclaimed` and has no `owner`.
    """
    page = await call.read(
        platform_organizations.list_all,
        status=query.status,
        tier_id=query.tier_id,
        limit=query.limit,
        offset=query.offset,
    )
    return PlatformOrganizationList(organizations=list(page.organizations), total=page.total)


@routes.post("/api/platform/organizations/:id/approve", refuses=(WrongState, TierUnknown, OrganizationUnknown))
@platform_owner
async def approve(call: Call, id: UUID, body: OrganizationApproval) -> OrganizationRecord:  # noqa: A002 - the path's parameter
    """Approve a pending organization."""
    return OrganizationRecord(
        organization=await call.transact(platform_organizations.approve, id, tier_id=body.tier_id)
    )


@routes.post("/api/platform/organizations/:id/reject", refuses=(WrongState, OrganizationUnknown))
@platform_owner
async def reject(call: Call, id: UUID, body: OrganizationRejection) -> OrganizationRecord:  # noqa: A002 - likewise
    """Reject a pending organization, with a reason."""
    return OrganizationRecord(organization=await call.transact(platform_organizations.reject, id, body.reason))


@routes.post("/api/platform/organizations/:id/suspend", refuses=(WrongState, OrganizationUnknown))
@platform_owner
async def suspend(call: Call, id: UUID, body: OrganizationSuspension) -> OrganizationRecord:  # noqa: A002 - likewise
    """Suspend an active organization.

    From the next request on, everything in it is refused with `ORGANIZATION_NOT_ACTIVE`. Its webhooks, mails and other
    background work wait until it is activated again.
    """
    return OrganizationRecord(organization=await call.transact(platform_organizations.suspend, id, body.reason))


@routes.post("/api/platform/organizations/:id/activate", refuses=(WrongState, OrganizationUnknown))
@platform_owner
async def activate(call: Call, id: UUID) -> OrganizationRecord:  # noqa: A002 - likewise
    """Reactivate a suspended organization."""
    return OrganizationRecord(organization=await call.transact(platform_organizations.activate, id))


@routes.delete("/api/platform/organizations/:id", status=204, refuses=(OrganizationUnknown,))
@platform_owner
async def delete_organization(call: Call, id: UUID) -> None:  # noqa: A002 - likewise
    """Delete an organization and everything that belongs to it, permanently."""
    await call.transact(platform_organizations.delete, id)
