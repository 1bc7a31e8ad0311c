"""What the events of the payment provider do to the subscriptions of users."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.billing import CUSTOMER, MONTH, SUBSCRIPTION, Seller

STATES = [
    ("active", "active"),
    ("trialing", "active"),
    ("past_due", "past_due"),
    ("unpaid", "past_due"),
    ("incomplete", "past_due"),
    ("paused", "past_due"),
    ("canceled", "cancelled"),
    ("incomplete_expired", "expired"),
]


@pytest.mark.parametrize(("theirs", "ours"), STATES)
async def test_every_state_of_the_provider_has_one_of_ours(seller: Seller, theirs: str, ours: str) -> None:
    seller.bind_customer()

    await seller.report("customer.subscription.created", seller.subscription(theirs))

    assert seller.state() == ("pro", ours)


@pytest.mark.parametrize(("theirs", "ours"), STATES)
async def test_an_update_changes_the_state(seller: Seller, theirs: str, ours: str) -> None:
    await seller.sell()

    await seller.report("customer.subscription.updated", seller.subscription(theirs))

    assert seller.state() == ("pro", ours)


async def test_a_new_subscription_has_its_user_plan_and_period(seller: Seller) -> None:
    end = seller.world.clock() + MONTH

    await seller.sell()

    assert seller.subscriptions() == [(seller.buyer_id, "pro", "active", end)]


async def test_a_new_subscription_is_recorded(seller: Seller) -> None:
    await seller.sell()

    [(organization_id, actor, target, details)] = seller.world.audit_entries("subscription.created")
    assert (organization_id, actor) == (seller.organization_id, None)
    assert details["plan_id"] == str(seller.plans["pro"])
    assert details["user_id"] == str(seller.buyer_id)
    assert details["status"] == "active"
    assert details["source"] == "billing_event"
    assert str(target) == details["subscription_id"]
    assert len(seller.world.events("subscription.created")) == 1


async def test_a_change_is_recorded_with_what_was_before(seller: Seller) -> None:
    await seller.sell()

    await seller.report("customer.subscription.updated", seller.subscription("past_due", price="price_team"))

    [(_, _, _, details)] = seller.world.audit_entries("subscription.updated")
    assert (details["status"], details["plan_id"]) == ("past_due", str(seller.plans["team"]))
    assert details["changes"]["status"] == {"from": "active", "to": "past_due"}
    assert details["changes"]["plan_name"] == {"from": "Pro", "to": "Team"}


async def test_an_event_that_changes_nothing_is_not_recorded(seller: Seller) -> None:
    await seller.sell()
    end = seller.period_end()

    await seller.report("customer.subscription.updated", seller.subscription(period_end=end))

    assert seller.world.audit_entries("subscription.updated") == []


async def test_the_end_of_a_subscription_is_recorded_as_its_cancellation(seller: Seller) -> None:
    await seller.sell()

    await seller.report("customer.subscription.deleted", seller.subscription("canceled"))

    assert seller.state() == ("pro", "cancelled")
    assert len(seller.world.audit_entries("subscription.canceled")) == 1
    assert len(seller.world.events("subscription.canceled")) == 1


async def test_a_failed_payment_makes_it_past_due_and_a_paid_invoice_active_again(seller: Seller) -> None:
    await seller.sell()
    await seller.report("invoice.payment_failed", seller.invoice())
    failed = seller.state()

    await seller.report("invoice.paid", seller.invoice())

    assert (failed, seller.state()) == (("pro", "past_due"), ("pro", "active"))


async def test_a_paid_invoice_extends_the_period_and_never_shortens_it(seller: Seller) -> None:
    await seller.sell()
    end = seller.period_end()
    await seller.report("invoice.paid", seller.invoice(period_end=end + 1000))
    extended = seller.period_end()

    await seller.report("invoice.paid", seller.invoice(period_end=end - 1000))

    assert (extended, seller.period_end()) == (end + 1000, end + 1000)


async def test_the_older_shape_of_a_subscription_is_understood(seller: Seller) -> None:
    seller.bind_customer()
    older = seller.subscription(
        items={"data": [{"plan": {"id": "price_team"}}]},
        current_period_end=seller.at + 500,
        customer={"id": CUSTOMER, "object": "customer"},
    )

    await seller.report("customer.subscription.created", older)

    assert seller.state() == ("team", "active")
    assert seller.period_end() == older["current_period_end"]


async def test_the_oldest_shape_of_a_subscription_is_understood(seller: Seller) -> None:
    seller.bind_customer()

    await seller.report("customer.subscription.created", seller.subscription(items=None, plan={"id": "price_team"}))

    assert seller.state() == ("team", "active")


@pytest.mark.parametrize("subscription", [SUBSCRIPTION, {"id": SUBSCRIPTION}])
async def test_the_older_shape_of_an_invoice_is_understood(seller: Seller, subscription: Any) -> None:
    await seller.sell()
    older = seller.invoice(subscription=subscription, parent=None)

    await seller.report("invoice.payment_failed", older)

    assert seller.state() == ("pro", "past_due")


async def test_an_invoice_of_no_subscription_changes_nothing(seller: Seller) -> None:
    await seller.sell()

    await seller.report("invoice.payment_failed", seller.invoice(parent=None))

    assert seller.state() == ("pro", "active")


async def test_an_older_event_never_overwrites_a_newer_one(seller: Seller) -> None:
    await seller.sell()
    await seller.report("customer.subscription.updated", seller.subscription("past_due"))

    await seller.report("customer.subscription.updated", seller.subscription(), created=seller.at - 60)

    assert seller.state() == ("pro", "past_due")


async def test_nothing_revives_a_subscription_that_has_ended(seller: Seller) -> None:
    await seller.sell()
    await seller.report("customer.subscription.deleted", seller.subscription("canceled"))

    await seller.report("customer.subscription.updated", seller.subscription("active"))
    await seller.report("invoice.paid", seller.invoice())

    assert seller.state() == ("pro", "cancelled")


async def test_an_invoice_of_an_unknown_subscription_is_parked_until_it_is_known(seller: Seller) -> None:
    seller.bind_customer()
    invoice = seller.invoice(parent={"subscription_details": {"subscription": SUBSCRIPTION}})
    await seller.report("invoice.payment_failed", invoice)
    parked = (seller.outcome(), seller.subscriptions())

    await seller.report("customer.subscription.created", seller.subscription(), created=seller.at - 60)

    assert parked == ("parked", [])
    assert seller.state() == ("pro", "past_due")


async def test_events_of_an_unknown_customer_are_parked_until_it_is_bound(seller: Seller) -> None:
    await seller.report("customer.subscription.created", seller.subscription())
    parked = (seller.outcome(), seller.subscriptions())

    await seller.report("customer.created", {"id": CUSTOMER, "metadata": {"org_id": str(seller.organization_id)}})

    assert parked == ("parked", [])
    assert seller.state() == ("pro", "active")


async def test_a_completed_checkout_tracks_the_subscription(seller: Seller) -> None:
    seller.bind_customer()
    session = {
        "id": "cs_1",
        "customer": CUSTOMER,
        "subscription": SUBSCRIPTION,
        "payment_status": "paid",
        "metadata": seller.metadata,
    }

    await seller.report("checkout.session.completed", session)

    assert seller.state() == ("pro", "active")


async def test_a_completed_checkout_that_is_not_paid_yet_gives_nothing_away(seller: Seller) -> None:
    seller.bind_customer()
    session = {
        "id": "cs_1",
        "customer": CUSTOMER,
        "subscription": SUBSCRIPTION,
        "payment_status": "unpaid",
        "metadata": seller.metadata,
    }

    await seller.report("checkout.session.completed", session)

    assert seller.state() == ("pro", "past_due")


async def test_a_price_that_no_plan_has_keeps_the_plan_that_was_bought(seller: Seller) -> None:
    await seller.sell()

    await seller.report("customer.subscription.updated", seller.subscription(price="price_unknown"))

    assert seller.state() == ("pro", "active")
