"""The caller's own subscription to the service of their token."""

from core.errors import Forbidden, OrganizationNotActive
from core.services import subscriptions
from core.services.subscriptions import NoServiceContext, OwnSubscription
from entrypoints.web.serving.admission.credentials import signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("subscription", "Your own subscription to the service that your token was issued for.")


@routes.get("/api/subscription", refuses=(NoServiceContext, Forbidden, OrganizationNotActive))
@signed_in
async def read_subscription(call: Call) -> OwnSubscription:
    """Show your subscription to the service of your token.

    Without a subscription this is the default plan of the service, active and without an end.
    """
    return await call.read(subscriptions.read_own)
