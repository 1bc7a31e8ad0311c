"""Making the customer of an organization or an end user at the payment provider, when it is first needed."""

from core.billing import checkout
from core.billing.provider_customers import CustomerCreation
from entrypoints.web.serving.calls import Call


async def ensure_customer(call: Call, customer_id: str | None, creation: CustomerCreation | None) -> str:
    """Return the customer, made now if there is none; of concurrent requests all get the same one."""
    if customer_id is not None:
        return customer_id
    assert creation is not None, "there is neither a customer nor a creation for one"
    billing = call.installation.billing
    made = await billing.create_customer(creation)
    return await call.transact(checkout.bind_created, creation, made, billing.mode)
