"""Events that contradict what a subscription was bought for change nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world.billing import SUBSCRIPTION, Seller


@pytest.fixture
def stranger(seller: Seller) -> tuple[UUID, UUID, UUID]:
    """Another organization with a customer, a service and a plan: their ids."""
    world = seller.world
    organization_id = world.organization("globex")
    service = world.service(organization_id, "till")
    plan_id = world.plan(organization_id, service.id, "Gold", billing_price_id="price_gold")
    seller.bind_customer("cus_globex", organization_id)
    return organization_id, service.id, plan_id


def attacks(seller: Seller, stranger: tuple[UUID, UUID, UUID]) -> list[tuple[str, dict[str, Any]]]:
    """Events of which each contradicts what the seller's subscription is bound to."""
    organization_id, service_id, plan_id = map(str, stranger)
    other_user = str(seller.world.user("other@example.com"))
    foreign = [
        seller.subscription("past_due", customer="cus_globex"),
        seller.subscription("past_due", customer="cus_nobody"),
        seller.subscription("past_due", metadata=seller.metadata | {"org_id": organization_id}),
        seller.subscription("past_due", metadata=seller.metadata | {"service_id": service_id}),
        seller.subscription("past_due", metadata=seller.metadata | {"user_id": other_user}),
        seller.subscription("past_due", price="price_gold"),
        seller.subscription(
            "past_due",
            customer="cus_globex",
            price="price_gold",
            metadata={**seller.metadata, "org_id": organization_id, "service_id": service_id, "plan_id": plan_id},
        ),
    ]
    details = {"subscription": SUBSCRIPTION, "metadata": seller.metadata | {"org_id": organization_id}}
    return [
        *[("customer.subscription.updated", subscription) for subscription in foreign],
        *[("customer.subscription.deleted", subscription | {"status": "canceled"}) for subscription in foreign],
        ("invoice.payment_failed", seller.invoice(customer="cus_globex")),
        ("invoice.payment_failed", seller.invoice(parent={"subscription_details": details})),
    ]


async def test_an_event_that_contradicts_the_binding_changes_nothing_and_is_answered_with_success(
    seller: Seller, stranger: tuple[UUID, UUID, UUID]
) -> None:
    await seller.sell()
    before = seller.subscriptions()

    for event_type, subject in attacks(seller, stranger):
        await seller.report(event_type, subject)
        assert seller.subscriptions() == before, (event_type, subject)
        assert seller.stored_events()[-1][1] == "refused", (event_type, subject)

    # It still follows its own events.
    await seller.report("customer.subscription.updated", seller.subscription("past_due"))
    assert seller.state() == ("pro", "past_due")


async def test_an_event_that_contradicts_itself_creates_no_subscription(
    seller: Seller, stranger: tuple[UUID, UUID, UUID]
) -> None:
    organization_id, service_id, plan_id = map(str, stranger)
    seller.bind_customer()
    nobody = str(seller.organization_id)

    contradictions: list[dict[str, Any]] = [
        {"customer": "cus_globex"},
        {"metadata": seller.metadata | {"org_id": organization_id}},
        {"metadata": seller.metadata | {"service_id": service_id}},
        {"metadata": seller.metadata | {"plan_id": plan_id}},
        {"metadata": seller.metadata | {"user_id": nobody}},
        {"price": "price_gold"},
    ]
    for changes in contradictions:
        await seller.report("customer.subscription.created", seller.subscription(**changes))
        assert seller.subscriptions() == [], changes
        assert seller.stored_events()[-1][1] == "refused", changes

    assert seller.world.rows("SELECT FROM billing_cancellations") == []
    await seller.report("customer.subscription.created", seller.subscription())
    assert seller.state() == ("pro", "active")


async def test_an_event_without_metadata_creates_no_subscription(seller: Seller) -> None:
    seller.bind_customer()

    await seller.report("customer.subscription.created", seller.subscription(metadata={}))

    assert (seller.outcome(), seller.subscriptions()) == ("parked", [])


async def test_a_subscription_of_a_deleted_service_is_answered_with_success(seller: Seller) -> None:
    await seller.sell()
    seller.world.connection.execute("DELETE FROM subscriptions")
    seller.world.connection.execute("DELETE FROM services")

    await seller.report("customer.subscription.updated", seller.subscription())

    assert seller.subscriptions() == []
