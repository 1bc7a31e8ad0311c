"""What the events of the payment provider do to the subscriptions of users (operations 4.2, decisions 6.5)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency import at_once
from tests.world.billing import CUSTOMER, MONTH, SUBSCRIPTION, Seller

if TYPE_CHECKING:
    from uuid import UUID

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

    for changes in (
        {"customer": "cus_globex"},
        {"metadata": seller.metadata | {"org_id": organization_id}},
        {"metadata": seller.metadata | {"service_id": service_id}},
        {"metadata": seller.metadata | {"plan_id": plan_id}},
        {"metadata": seller.metadata | {"user_id": nobody}},
        {"price": "price_gold"},
    ):
        await seller.report("customer.subscription.created", seller.subscription(**changes))
        assert seller.subscriptions() == [], changes
        assert seller.stored_events()[-1][1] == "refused", changes

    await seller.report("customer.subscription.created", seller.subscription())
    assert seller.state() == ("pro", "active")


async def test_an_event_without_metadata_creates_no_subscription(seller: Seller) -> None:
    seller.bind_customer()

    await seller.report("customer.subscription.created", seller.subscription(metadata={}))

    assert (seller.outcome(), seller.subscriptions()) == ("parked", [])


async def test_a_second_live_subscription_is_a_conflict_and_answered_with_success(seller: Seller) -> None:
    await seller.sell()

    await seller.report("customer.subscription.created", seller.subscription(id="sub_2", price="price_team"))

    assert seller.outcome("sub_2") == "conflict"
    assert seller.state() == ("pro", "active")


async def test_a_second_subscription_takes_effect_when_the_first_one_ends(seller: Seller) -> None:
    await seller.sell()
    await seller.report("customer.subscription.created", seller.subscription(id="sub_2", price="price_team"))

    await seller.report("customer.subscription.deleted", seller.subscription("canceled"))

    assert [row[1:3] for row in seller.subscriptions()] == [("pro", "cancelled"), ("team", "active")]
    assert seller.outcome("sub_2") == "applied"


async def test_a_second_subscription_that_ends_first_never_takes_effect(seller: Seller) -> None:
    await seller.sell()
    second = seller.subscription(id="sub_2", price="price_team")
    await seller.report("customer.subscription.created", second)

    await seller.report("customer.subscription.deleted", second | {"status": "canceled"})
    await seller.report("customer.subscription.deleted", seller.subscription("canceled"))

    assert [row[1:3] for row in seller.subscriptions()] == [("pro", "cancelled")]


async def test_of_two_first_subscriptions_at_once_one_takes_effect(seller: Seller) -> None:
    seller.bind_customer()
    events = [
        seller.event("customer.subscription.created", seller.subscription(id=subscription_id))
        for subscription_id in ("sub_1", "sub_2")
    ]

    await at_once(*[lambda event=event: seller.send(event) for event in events])

    assert sorted([seller.outcome("sub_1"), seller.outcome("sub_2")]) == ["applied", "conflict"]
    assert len(seller.subscriptions()) == 1


async def test_the_end_of_one_and_the_begin_of_another_at_once_leave_the_other_one_live(seller: Seller) -> None:
    await seller.sell()
    seller.world.clock.advance(timedelta(seconds=1))
    ends = seller.event("customer.subscription.deleted", seller.subscription("canceled"))
    begins = seller.event("customer.subscription.created", seller.subscription(id="sub_2"))

    await at_once(lambda: seller.send(ends), lambda: seller.send(begins))

    assert sorted(row[2] for row in seller.subscriptions()) == ["active", "cancelled"]


async def test_a_subscription_that_was_cancelled_here_does_not_push_out_its_successor(seller: Seller) -> None:
    await seller.sell()
    seller.world.connection.execute("UPDATE subscriptions SET status = 'cancelled'")
    await seller.report("customer.subscription.created", seller.subscription(id="sub_2", price="price_team"))

    await seller.report("customer.subscription.updated", seller.subscription())

    assert seller.outcome() == "conflict"
    assert [row[1:3] for row in seller.subscriptions()] == [("pro", "cancelled"), ("team", "active")]


async def test_a_subscription_that_was_changed_here_follows_the_provider_again(seller: Seller) -> None:
    await seller.sell()
    seller.world.connection.execute("UPDATE subscriptions SET status = 'cancelled'")

    await seller.report("customer.subscription.updated", seller.subscription())

    assert seller.state() == ("pro", "active")


async def test_a_subscription_of_a_deleted_service_is_answered_with_success(seller: Seller) -> None:
    await seller.sell()
    seller.world.connection.execute("DELETE FROM subscriptions")
    seller.world.connection.execute("DELETE FROM services")

    await seller.report("customer.subscription.updated", seller.subscription())

    assert seller.subscriptions() == []
