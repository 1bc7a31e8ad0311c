"""The payment provider, and the sandbox that stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.checkout import Checkout
from core.billing.provider import BillingMode, CheckoutOrder, CheckoutSession, ReadSubscription
from core.billing.provider_customers import CustomerCreation
from core.billing.sandbox import SandboxDelivery
from core.billing.sandbox_events import SandboxCustomer, SandboxSession, SandboxSubscription, SessionKind


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


class BillingCheckouts(Protocol):
    """Checkouts that were started."""

    def start(self, checkout: Checkout, mode: BillingMode, *, unfinished_since: datetime) -> Checkout:
        """Store a checkout, or return the same one that was started since and not finished."""
        ...

    def finish(self, checkout: Checkout, session_id: str) -> None:
        """Store the provider's session."""
        ...

    def remove(self, checkout: Checkout) -> None:
        """Delete a checkout that has no session."""
        ...


class Sandbox(Protocol):
    """The data of the provider that the sandbox stands in for."""

    def add_customer(self, customer: SandboxCustomer, key: str) -> SandboxCustomer:
        """Add a customer; return the one that was made under this key before, if any."""
        ...

    def add_session(self, session: SandboxSession, key: str | None) -> SandboxSession:
        """Add a page; return the one that was made under this key before, if any."""
        ...

    def session(
        self, session_id: str, kind: SessionKind, *, at: datetime, is_locked: bool = False
    ) -> SandboxSession | None:
        """Return a page of that kind that has not expired."""
        ...

    def begin(self, subscription: SandboxSubscription, session_id: str, method_id: str) -> None:
        """Add the subscription that was bought in a checkout, and the payment method it was paid with."""
        ...

    def subscription(self, subscription_id: str) -> SandboxSubscription | None:
        """Return a subscription."""
        ...

    def lock_subscription(self, subscription_id: str) -> SandboxSubscription | None:
        """Return a subscription, locked until the transaction ends."""
        ...

    def save_subscription(self, subscription: SandboxSubscription) -> None:
        """Store the status and the period of a subscription."""
        ...

    def subscriptions_of(self, customer_id: str) -> Sequence[SandboxSubscription]:
        """List the newest subscriptions of a customer."""
        ...

    def subscriptions(self, limit: int) -> Sequence[SandboxSubscription]:
        """List the newest subscriptions."""
        ...

    def add_delivery(self, delivery_id: UUID, customer_id: str, body: str, *, due_at: datetime, at: datetime) -> None:
        """Queue an event and, after the commit, wake the sender."""
        ...

    def claim_deliveries(self, *, now: datetime, leased_until: datetime, limit: int) -> Sequence[SandboxDelivery]:
        """Claim events that are due, the oldest first, and count an attempt for each."""
        ...

    def end_delivery(self, delivery_id: UUID) -> None:
        """Forget a delivery."""
        ...

    def postpone_delivery(self, delivery_id: UUID, *, until: datetime) -> None:
        """Send a delivery again at that time."""
        ...
