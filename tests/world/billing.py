"""An organization that sells a service, and the events of the payment provider about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from core.billing import signatures
from tests.application import BILLING_WEBHOOK_SECRET, Answer
from tests.world.builder import Service
from tests.world.signing_in import SignedInUser
from tests.world.world import World

RECEIVER = "/webhooks/billing"
CHECKOUT = "/api/organizations/acme/services/shop/checkout"
CUSTOMER = "cus_acme"
SUBSCRIPTION = "sub_1"
MONTH = timedelta(days=30)


@dataclass
class Seller:
    """An organization with a service that has two plans for sale and a free one, and a buyer who is a member."""

    world: World
    organization_id: UUID
    service: Service
    plans: dict[str, UUID]
    buyer_id: UUID
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def at(self) -> int:
        """The present second."""
        return seconds(self.world.clock())

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the buyer's purchase of the plan `pro`."""
        return {
            "user_id": str(self.buyer_id),
            "service_id": str(self.service.id),
            "plan_id": str(self.plans["pro"]),
            "org_id": str(self.organization_id),
        }

    async def buyer(self) -> SignedInUser:
        """Sign the buyer in."""
        return await self.world.sign_in_as(self.buyer_id, "buyer@example.com")

    def purchase(self, plan: str = "pro", **changes: Any) -> dict[str, Any]:
        """Return the body that starts a checkout."""
        return {
            "plan_id": str(self.plans[plan]),
            "success_url": "https://app.example.com/thanks?session={CHECKOUT_SESSION_ID}",
            "cancel_url": "https://app.example.com/prices",
        } | changes

    def bind_customer(
        self, customer_id: str = CUSTOMER, organization_id: UUID | None = None, mode: str = "sandbox"
    ) -> None:
        """Insert the customer of the organization, as a checkout leaves it."""
        self.world.connection.execute(
            """
            INSERT INTO billing_customers (id, mode, organization_id, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (customer_id, mode, organization_id or self.organization_id, self.world.clock(), self.world.clock()),
        )

    def subscription(
        self, status: str = "active", *, price: str = "price_pro", period_end: int | None = None, **changes: Any
    ) -> dict[str, Any]:
        """Return a subscription in the current shape of the provider's API."""
        end = self.at + int(MONTH.total_seconds()) if period_end is None else period_end
        return {
            "id": SUBSCRIPTION,
            "object": "subscription",
            "customer": CUSTOMER,
            "status": status,
            "metadata": self.metadata,
            "items": {"data": [{"price": {"id": price}, "current_period_end": end}]},
        } | changes

    def invoice(self, *, period_end: int | None = None, **changes: Any) -> dict[str, Any]:
        """Return an invoice of the subscription in the current shape."""
        end = self.at + int(MONTH.total_seconds()) if period_end is None else period_end
        details = {"subscription": SUBSCRIPTION, "metadata": self.metadata}
        return {
            "id": "in_1",
            "object": "invoice",
            "customer": CUSTOMER,
            "lines": {"data": [{"period": {"start": self.at, "end": end}}]},
            "parent": {"subscription_details": details},
        } | changes

    def event(
        self, event_type: str, subject: dict[str, Any], *, created: int | None = None, **changes: Any
    ) -> dict[str, Any]:
        """Return an event about an object; every one has another id, and happens now."""
        return {
            "id": f"evt_{next(self.numbers)}",
            "object": "event",
            "type": event_type,
            "created": self.at if created is None else created,
            "livemode": False,
            "data": {"object": subject},
        } | changes

    async def send(self, event: dict[str, Any]) -> Answer:
        """Send an event to the receiver, correctly signed."""
        return await self.send_raw(json.dumps(event).encode())

    async def send_raw(self, body: bytes, *, header: str | None = None, **options: Any) -> Answer:
        """Send bytes to the receiver, correctly signed unless a header is given."""
        signed = signatures.header_of(body, BILLING_WEBHOOK_SECRET, at=self.world.clock())
        headers = {"billing-signature": signed if header is None else header, "Content-Type": "application/json"}
        return await self.world.client.post(RECEIVER, data=body, headers=headers, **options)

    async def report(self, event_type: str, subject: dict[str, Any], **changes: Any) -> Answer:
        """Let an event happen one second after the last one, and send it."""
        self.world.clock.advance(timedelta(seconds=1))
        answer = await self.send(self.event(event_type, subject, **changes))
        assert (answer.status, answer.json) == (200, {"status": "success"}), answer.text
        return answer

    async def sell(self) -> None:
        """Let the buyer have an active subscription."""
        self.bind_customer()
        await self.report("customer.subscription.created", self.subscription())

    def subscriptions(self) -> list[tuple[Any, ...]]:
        """List the users' subscriptions: user, plan, status, end of the period."""
        names = {plan_id: name for name, plan_id in self.plans.items()}
        rows = self.world.rows(
            "SELECT user_id, plan_id, status, current_period_end FROM subscriptions ORDER BY created_at, id"
        )
        return [(user_id, names.get(plan_id), status, end) for user_id, plan_id, status, end in rows]

    def state(self) -> tuple[str | None, str]:
        """Return the plan and the status of the only subscription."""
        [(_, plan, status, _)] = self.subscriptions()
        return plan, status

    def period_end(self) -> int:
        """Return the end of the period of the only subscription."""
        [(_, _, _, end)] = self.subscriptions()
        return seconds(end)

    def stored_events(self) -> list[tuple[str, str]]:
        """List the stored events with their effects, the first stored one first."""
        rows = self.world.rows("SELECT id, effect FROM billing_events ORDER BY received_at, id")
        return [(event_id, effect) for event_id, effect in rows]

    def outcome(self, subscription_id: str = SUBSCRIPTION) -> str:
        """Return what became of a subscription of the provider."""
        return self.world.value("SELECT outcome FROM billing_subscriptions WHERE id = %s", subscription_id)


def insert_seller(world: World) -> Seller:
    """Insert the seller."""
    organization_id = world.organization()
    service = world.service(organization_id)
    buyer_id = world.user("buyer@example.com")
    world.member(organization_id, buyer_id)
    plans = {
        "free": world.value("SELECT id FROM plans WHERE service_id = %s", service.id),
        "pro": world.plan(organization_id, service.id, "Pro", billing_price_id="price_pro"),
        "team": world.plan(organization_id, service.id, "Team", billing_price_id="price_team"),
    }
    return Seller(world, organization_id, service, plans, buyer_id)


def seconds(at: datetime) -> int:
    """Return a time as the provider writes it."""
    return int(at.timestamp())
