"""Figures about a service, for its backend."""

from core.service_api import analytics
from core.service_api.analytics import ServiceAnalytics
from core.services.api_keys import Permission
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("service analytics", "Figures about the users of a service, for its backend.")


@routes.get("/api/service/analytics")
@service_key(Permission.READ_ANALYTICS)
async def read_analytics(call: Call) -> ServiceAnalytics:
    """Show figures about your service: its users, their sign-ins of the last 30 days, and active subscriptions."""
    return await call.read(analytics.read)
