"""The billing portal of an end user, as the backend of the service opens it."""

from uuid import UUID

from core.billing.provider import BillingFailed
from core.service_api import checkout
from core.service_api.checkout import NothingBought
from core.services.api_keys import Permission
from core.services.user_metadata import ServiceUserUnknown
from entrypoints.http.billing.portal import PortalOpened, PortalWanted
from entrypoints.http.service_api.subscriptions import routes as subscription_routes
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(subscription_routes.capability, subscription_routes.description)


@routes.post("/api/service/users/:user_id/portal", refuses=(BillingFailed, NothingBought, ServiceUserUnknown))
@service_key(Permission.WRITE_SUBSCRIPTIONS)
async def open_user_portal(call: Call, user_id: UUID, body: PortalWanted) -> PortalOpened:
    """Open the billing portal of a user of your service: what they have bought through it, and nothing else.

    It is 404 for a user who has bought nothing through your service.
    """
    billing = call.installation.billing
    request = await call.transact(checkout.request_portal, user_id, return_url=body.return_url, mode=billing.mode)
    portal_url = await billing.open_portal(request.customer_id, request.return_url)
    await call.transact(checkout.record_portal_opened, request.user_id, mode=billing.mode)
    return PortalOpened(portal_url=portal_url)
