"""Generated histories of a subscription at a payment provider: the events it sends, and the state that is left."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from core.billing import provider
from core.billing.provider import ReadSubscription
from tests.world.billing import CUSTOMER, SUBSCRIPTION

BEGIN = 1_770_000_000
PERIOD = 2_592_000

# What happens, and how many seconds after what happened before; 0 makes events of one second.
HAPPENINGS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "renewed",
                # More often than the others, because they follow each other without a whole subscription.
                *["paid", "failed"] * 3,
                "changed plan",
                "unpaid",
                "trial ending",
                "action required",
                "renamed",
                "card attached",
                "card detached",
                "checkout completed",
                "ended",
                "customer deleted",
            ]
        ),
        st.integers(0, 2),
    ),
    max_size=12,
)


@dataclass
class Provider:
    """A provider with one customer and one subscription, which records the events that it sends."""

    metadata: dict[str, str]
    now: int = BEGIN
    status: str = "incomplete"
    price: str = "price_pro"
    period_end: int = BEGIN + PERIOD
    name: str = "Acme"
    card: str | None = None
    cards: int = 0
    is_customer_deleted: bool = False
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def has_ended(self) -> bool:
        """Whether nothing can happen to the subscription any more."""
        return self.status == "canceled"

    def begin(self) -> None:
        """Make the customer and the subscription."""
        self._send("customer.created", self._customer())
        self._send("customer.subscription.created", self.subscription())

    def happen(self, what: str, seconds: int) -> None:
        """Let something happen, as far as it can."""
        self.now += seconds
        match what:
            case "renamed" | "card attached" | "card detached" | "customer deleted":
                # A customer is not read from the provider, so its events need an order.
                self.now += 1
                if not self.is_customer_deleted:
                    self._happen_to_customer(what)
            case _ if not self.has_ended:
                self._happen_to_subscription(what)
            case _:
                pass

    def read(self) -> ReadSubscription:
        """Return the subscription as it is now."""
        return ReadSubscription(
            customer_id=CUSTOMER,
            facts=provider.subscription_facts(self.subscription()),
            as_of=datetime.fromtimestamp(self.now, UTC),
        )

    def subscription(self) -> dict[str, Any]:
        """Return the subscription as an event shows it."""
        return {
            "id": SUBSCRIPTION,
            "customer": CUSTOMER,
            "status": self.status,
            "metadata": self.metadata,
            "items": {"data": [{"price": {"id": self.price}, "current_period_end": self.period_end}]},
        }

    def _happen_to_customer(self, what: str) -> None:
        match what:
            case "renamed":
                self.name += "!"
                self._send("customer.updated", self._customer())
            case "card attached":
                self.cards += 1
                self.card = f"pm_{self.cards}"
                self._send("payment_method.attached", {"id": self.card, "customer": CUSTOMER})
            case "card detached" if self.card is not None:
                self._send("payment_method.detached", {"id": self.card, "customer": CUSTOMER})
                self.card = None
            case "customer deleted":
                self.is_customer_deleted = True
                self.status = "canceled"
                self._send("customer.deleted", self._customer())
            case _:
                pass

    def _happen_to_subscription(self, what: str) -> None:
        match what:
            case "renewed":
                self.period_end += PERIOD
                self.status = "active"
                self._send("customer.subscription.updated", self.subscription())
            case "paid":
                self.period_end += PERIOD
                self.status = "active"
                self._send("invoice.paid", self._invoice())
            case "failed":
                self.status = "past_due"
                self._send("invoice.payment_failed", self._invoice())
            case "changed plan":
                self.price = "price_team" if self.price == "price_pro" else "price_pro"
                self._send("customer.subscription.updated", self.subscription())
            case "unpaid":
                self.status = "unpaid"
                self._send("customer.subscription.updated", self.subscription())
            case "ended":
                self.status = "canceled"
                self._send("customer.subscription.deleted", self.subscription())
            case "checkout completed":
                session = {"id": "cs_1", "customer": CUSTOMER, "subscription": SUBSCRIPTION, "metadata": self.metadata}
                self._send("checkout.session.completed", session | {"payment_status": "paid"})
            case "trial ending":
                self._send("customer.subscription.trial_will_end", self.subscription())
            case _:
                self._send("invoice.payment_action_required", self._invoice())

    def _customer(self) -> dict[str, Any]:
        metadata = {"org_id": self.metadata["org_id"]}
        return {"id": CUSTOMER, "name": self.name, "email": None, "metadata": metadata}

    def _invoice(self) -> dict[str, Any]:
        return {
            "id": f"in_{len(self.events)}",
            "customer": CUSTOMER,
            "lines": {"data": [{"period": {"end": self.period_end}}]},
            "parent": {"subscription_details": {"subscription": SUBSCRIPTION, "metadata": self.metadata}},
        }

    def _send(self, event_type: str, subject: dict[str, Any]) -> None:
        self.events.append(
            {
                # In no order, like the provider's ids.
                "id": f"evt_{hashlib.sha256(b'%d' % len(self.events)).hexdigest()[:16]}",
                "type": event_type,
                "created": self.now,
                "data": {"object": subject},
            }
        )


def provider_after(happenings: Sequence[tuple[str, int]], metadata: dict[str, str]) -> Provider:
    """Return the provider after these happenings."""
    provider = Provider(metadata)
    provider.begin()
    for what, seconds in happenings:
        provider.happen(what, seconds)
    return provider
