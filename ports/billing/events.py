"""Storage of the payment provider's events."""

from collections.abc import Sequence
from typing import Protocol

from core.billing.customers import MethodEntry
from core.billing.provider_events import BillingEvent
from core.deferred import Deferred


class BillingEvents(Protocol):
    """Events, each stored once under the provider's id."""

    def defer_add(self, event: BillingEvent) -> Deferred[bool]:
        """Store an event; the result is False when it is stored already."""
        ...

    def refuse(self, event_ids: Sequence[str]) -> None:
        """Record that these events have no effect."""
        ...

    def mark_noticed(self, event_ids: Sequence[str]) -> None:
        """Record that the mails of these events were queued."""
        ...

    def methods(self, customer_id: str) -> Sequence[MethodEntry]:
        """Return the events that a customer's default payment method is computed from."""
        ...
