"""Storage of the sandbox provider."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.sandbox import SandboxDelivery
from core.billing.sandbox_records import SandboxCustomer, SandboxSession, SandboxSubscription, SessionKind


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
