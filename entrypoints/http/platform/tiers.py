"""The tiers of the platform, and the tier of an organization."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.limits import PRICE_CENTS_MAX, TIER_LIMIT_MAX
from core.organizations import tiers
from core.organizations.tiers import (
    NoSuchTier,
    Tier,
    TierFields,
    TierInUse,
    TierNeeded,
    TierTaken,
    TierUnknown,
    TooManyTiers,
)
from core.platform import organizations as platform_organizations
from core.platform.organizations import OrganizationUnknown
from entrypoints.http.organizations.organizations import OrganizationRecord
from entrypoints.web.serving.admission.credentials import platform_owner, platform_support
from entrypoints.web.serving.answering.bodies import Change, Input
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform organizations", "Managing all organizations and their tiers, for platform owners.")

Limit = Annotated[int, msgspec.Meta(ge=0, le=TIER_LIMIT_MAX)]
TierPrice = Annotated[int, msgspec.Meta(ge=0, le=PRICE_CENTS_MAX)]


class NewTier(Input, of=TierFields):
    """A new tier; a limit of null is no limit."""

    default_max_services: Limit | None
    default_max_users: Limit | None
    price_cents: TierPrice


class TierUpdate(Change, of=TierFields, without=("name",)):
    """The fields to change, at least one; omitted fields keep their values. A limit of null is no limit."""

    default_max_services: Limit | msgspec.UnsetType | None = msgspec.UNSET
    default_max_users: Limit | msgspec.UnsetType | None = msgspec.UNSET
    price_cents: TierPrice | msgspec.UnsetType = msgspec.UNSET


class OrganizationTierUpdate(msgspec.Struct, kw_only=True):
    """The tier, and limits of the organization itself: null for the tier's own; what is omitted stays."""

    tier_id: UUID | msgspec.UnsetType = msgspec.UNSET
    max_services: Limit | msgspec.UnsetType | None = msgspec.UNSET
    max_users: Limit | msgspec.UnsetType | None = msgspec.UNSET


@routes.get("/api/platform/tiers")
@platform_support
async def list_tiers(call: Call) -> list[Tier]:
    """List the tiers, the smallest first; null means no limit."""
    return list(await call.read(tiers.list_all))


@routes.post("/api/platform/tiers", refuses=(TierTaken, TooManyTiers))
@platform_owner
async def create_tier(call: Call, body: NewTier) -> Tier:
    """Create a tier. Its name is for programs and never changes."""
    return await call.transact(tiers.create, body.to(TierFields))


@routes.patch("/api/platform/tiers/:id", refuses=(NoSuchTier,))
@platform_owner
async def update_tier(call: Call, id: UUID, body: TierUpdate) -> Tier:  # noqa: A002 - the path's parameter
    """Change a tier. Its organizations have the new limits from their next request on.

    What an organization has beyond a lower limit stays, and it can add no more.
    """
    return await call.transact(tiers.change, id, body.given())


@routes.delete("/api/platform/tiers/:id", status=204, refuses=(NoSuchTier, TierInUse, TierNeeded))
@platform_owner
async def delete_tier(call: Call, id: UUID) -> None:  # noqa: A002 - the path's parameter
    """Delete a tier that no organization has. The tier `free`, in which new organizations begin, cannot go."""
    await call.transact(tiers.delete, id)


@routes.patch("/api/platform/organizations/:id/tier", refuses=(TierUnknown, OrganizationUnknown))
@platform_owner
async def change_tier(call: Call, id: UUID, body: OrganizationTierUpdate) -> OrganizationRecord:  # noqa: A002 - the path's parameter
    """Change the tier of an organization, and set or remove its own limits: any of the fields, alone or together."""
    named = {"max_services": body.max_services, "max_users": body.max_users}
    limits = {name: limit for name, limit in named.items() if not isinstance(limit, msgspec.UnsetType)}
    tier_id = body.tier_id if isinstance(body.tier_id, UUID) else None
    return OrganizationRecord(organization=await call.transact(platform_organizations.change_tier, id, tier_id, limits))
