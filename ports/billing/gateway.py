"""The payment provider. A method raises `BillingFailed` when the provider cannot do it; then nothing was changed."""

from typing import Protocol

from core.billing.customers import CustomerCreation
from core.billing.provider import BillingMode, CheckoutOrder, CheckoutSession, ReadSubscription


class BillingGateway(Protocol):
    """Requests to the payment provider. A request under the same key is executed once, however often it is sent."""

    @property
    def mode(self) -> BillingMode:
        """Whether requests are about the provider's live data or its test data."""
        ...

    async def create_customer(self, creation: CustomerCreation) -> str:
        """Make a customer and return its id; under the same key it is the same customer."""
        ...

    async def open_checkout(self, order: CheckoutOrder, *, key: str) -> CheckoutSession:
        """Make a page on which the customer buys a subscription; under the same key it is the same page."""
        ...

    async def open_portal(self, customer_id: str, return_url: str) -> str:
        """Make a page on which the customer manages what it pays for; return its address."""
        ...

    async def read_subscription(self, subscription_id: str) -> ReadSubscription | None:
        """Return a subscription as it is now; None when the provider has none with that id.

        Raise `BillingRateLimited` when the provider asks to wait.
        """
        ...

    async def cancel_subscription(self, subscription_id: str) -> None:
        """End a subscription at once; one that has ended, or that the provider does not have, stays as it is.

        Raise `BillingRateLimited` when the provider asks to wait.
        """
        ...
