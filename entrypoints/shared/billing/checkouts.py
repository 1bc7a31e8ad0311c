"""Opening the page of the payment provider on which a started checkout is paid."""

from core.billing import checkout
from core.billing.checkout import Started
from core.billing.provider import BillingFailed, CheckoutSession
from entrypoints.shared.billing.provider_customers import ensure_customer
from entrypoints.web.serving.calls import Call


async def open_checkout(call: Call, started: Started) -> CheckoutSession:
    """Return the page of a started checkout, made by the payment provider; raise `BillingFailed`."""
    billing = call.installation.billing
    try:
        customer_id = await ensure_customer(call, started.customer_id, started.customer)
        session = await billing.open_checkout(started.order(customer_id), key=started.checkout.idempotency_key)
    except BillingFailed as failed:
        if failed.is_refused:
            await call.transact(checkout.abandon, started.checkout)
        raise
    await call.transact(checkout.finish, started.checkout, session.session_id)
    return session
