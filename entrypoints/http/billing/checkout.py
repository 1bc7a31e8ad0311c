"""Checkout: buying a plan on a page of the payment provider."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.billing import checkout
from core.billing.checkout import AlreadySubscribed, PlanNotForSale, PlanNotFound, PlanOfAnotherService
from core.billing.provider import BillingFailed, CheckoutSession
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.shared.billing.checkouts import open_checkout
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("billing", "Buying plans, the billing portal, and the events of the payment provider.")


class CheckoutWanted(msgspec.Struct, kw_only=True):
    """The plan to buy, and where the buyer goes afterwards; both are absolute http or https addresses."""

    plan_id: UUID
    success_url: Annotated[str, msgspec.Meta(description="`{CHECKOUT_SESSION_ID}` in it becomes the session's id.")]
    cancel_url: str


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/checkout",
    refuses=(
        ServiceUnknown,
        PlanNotFound,
        PlanOfAnotherService,
        PlanNotForSale,
        AlreadySubscribed,
        BillingFailed,
    ),
)
@in_organization(Operation.CHECKOUT)
async def start_checkout(call: Call, org_slug: str, service_slug: str, body: CheckoutWanted) -> CheckoutSession:
    """Start buying a plan for yourself: open `checkout_url` in a browser to pay.

    The subscription begins when the payment provider reports the payment. A request that failed can be repeated; it
    never leads to a second page for the same purchase, and nothing is charged before the page is paid.
    """
    started = await call.transact(
        checkout.start,
        org_slug,
        service_slug,
        body.plan_id,
        success_url=body.success_url,
        cancel_url=body.cancel_url,
        mode=call.installation.billing.mode,
    )
    return await open_checkout(call, started)
