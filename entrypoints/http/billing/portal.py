"""The billing portal, where an organization manages what it pays for."""

import msgspec

from core.billing import portal
from core.billing.provider import BillingFailed
from core.organizations.access import Operation
from entrypoints.shared.billing.provider_customers import ensure_customer
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("billing", "Buying plans, the billing portal, and the events of the payment provider.")


class PortalWanted(msgspec.Struct, kw_only=True):
    """Where the portal leads back to: an absolute http or https address."""

    return_url: str


class PortalOpened(SecretBody, kw_only=True):
    """The address of the portal; anyone who has it can use the portal for a while."""

    portal_url: str


@routes.post("/api/organizations/:slug/billing/portal", refuses=(BillingFailed,))
@in_organization(Operation.BILLING_PORTAL)
async def open_portal(call: Call, slug: str, body: PortalWanted) -> PortalOpened:
    """Open the billing portal: invoices, payment methods, changing and cancelling subscriptions."""
    billing = call.installation.billing
    request = await call.transact(portal.request, slug, return_url=body.return_url, mode=billing.mode)
    customer_id = await ensure_customer(call, request.customer_id, request.customer)
    portal_url = await billing.open_portal(customer_id, request.return_url)
    await call.transact(portal.record_opened, slug, mode=billing.mode)
    return PortalOpened(portal_url=portal_url)
