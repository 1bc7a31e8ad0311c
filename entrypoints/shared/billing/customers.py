"""Making the customer of an organization or an end user at the payment provider, when it is first needed."""

from core.billing import checkout
from core.billing.customers import CustomerWish
from entrypoints.web.serving.calls import Call


async def ensure_customer(call: Call, customer_id: str | None, wish: CustomerWish | None) -> str:
    """Return the customer, made now if there is none; of concurrent requests all get the same one."""
    if customer_id is not None:
        return customer_id
    assert wish is not None, "there is neither a customer nor a wish for one"
    billing = call.installation.billing
    made = await billing.create_customer(wish)
    return await call.transact(checkout.bind_wished, wish, made, billing.mode)
