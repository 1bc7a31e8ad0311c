"""The tiers of the platform, and the tier of an organization."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.limits import TIER_LIMIT_MAX
from core.organizations import tiers
from core.organizations.tiers import Tier, TierUnknown
from core.platform import organizations as platform_organizations
from core.platform.organizations import OrganizationUnknown
from entrypoints.http.organizations.organizations import OrganizationRecord
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_owner, platform_support
from entrypoints.web.serving.routes import Routes

routes = Routes("platform organizations", "Managing all organizations and their tiers, for platform owners.")

Limit = Annotated[int, msgspec.Meta(ge=0, le=TIER_LIMIT_MAX)]


class OrganizationTierUpdate(msgspec.Struct, kw_only=True):
    """The tier, and limits of the organization itself: null for those of the tier; omitted limits stay."""

    tier_id: UUID
    max_services: Limit | msgspec.UnsetType | None = msgspec.UNSET
    max_users: Limit | msgspec.UnsetType | None = msgspec.UNSET


@routes.get("/api/platform/tiers")
@platform_support
async def list_tiers(call: Call) -> list[Tier]:
    """List the tiers, the smallest first; null means no limit."""
    return list(await call.read(tiers.list_all))


@routes.patch("/api/platform/organizations/:id/tier", refuses=(TierUnknown, OrganizationUnknown))
@platform_owner
async def change_tier(call: Call, id: UUID, body: OrganizationTierUpdate) -> OrganizationRecord:  # noqa: A002 - the path's parameter
    """Change the tier of an organization, and set or remove its own limits."""
    named = {"max_services": body.max_services, "max_users": body.max_users}
    limits = {name: limit for name, limit in named.items() if not isinstance(limit, msgspec.UnsetType)}
    return OrganizationRecord(
        organization=await call.transact(platform_organizations.change_tier, id, body.tier_id, limits)
    )
