"""Buying a plan for an end user, as the backend of the service starts it."""

from uuid import UUID

from core.billing.checkout import PlanNotForSale
from core.billing.provider import BillingFailed, CheckoutSession
from core.service_api import checkout
from core.service_api.subscriptions import PlanOfSiblingService, SubscriptionExists
from core.services.api_keys import Permission
from core.services.plans import PlanUnknown
from core.services.user_metadata import ServiceUserUnknown
from entrypoints.http.billing.checkout import CheckoutWanted
from entrypoints.http.service_api.subscriptions import routes as subscription_routes
from entrypoints.shared.billing.checkouts import open_checkout
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(subscription_routes.capability, subscription_routes.description)


@routes.post(
    "/api/service/users/:user_id/checkout",
    refuses=(
        PlanNotForSale,
        PlanOfSiblingService,
        PlanUnknown,
        ServiceUserUnknown,
        SubscriptionExists,
        BillingFailed,
    ),
)
@service_key(Permission.WRITE_SUBSCRIPTIONS)
async def start_user_checkout(call: Call, user_id: UUID, body: CheckoutWanted) -> CheckoutSession:
    """Start buying a plan for a user of your service: lead their browser to `checkout_url` to pay.

    The user need not be a member of the organization, and pays as a customer of their own, for this service alone. The
    subscription begins when the payment provider reports the payment. A request that failed can be repeated; it never
    leads to a second page for the same purchase.
    """
    started = await call.transact(
        checkout.start,
        user_id,
        body.plan_id,
        success_url=body.success_url,
        cancel_url=body.cancel_url,
        mode=call.installation.billing.mode,
    )
    return await open_checkout(call, started)
