"""A second live subscription of a user to a service is a conflict."""

from __future__ import annotations

from datetime import timedelta

from tests.concurrency import at_once
from tests.world.billing import Seller


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
