"""The tiers of the platform."""

from core.organizations import tiers
from core.organizations.tiers import Tier
from entrypoints.web.calls import Call
from entrypoints.web.credentials import platform_owner
from entrypoints.web.routes import Routes

routes = Routes("platform organizations", "Managing all organizations and their tiers, for platform owners.")


@routes.get("/api/platform/tiers")
@platform_owner
async def list_tiers(call: Call) -> list[Tier]:
    """List the tiers, the smallest first; null means no limit."""
    return list(await call.read(tiers.list_all))
