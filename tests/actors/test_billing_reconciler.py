"""The reconciler reads again what may have drifted from the payment provider, and repairs it."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors import billing_reconciler
from actors.billing_reconciler import BillingReconciler
from adapters.gateways import stripe
from adapters.gateways.stripe import StripeGateway
from adapters.prometheus import PrometheusMetrics
from core.billing import reconciliation
from core.billing.provider import BillingFailed, BillingMode, BillingRateLimited
from core.billing.subscriptions import CONFLICT_PERIOD, PERIOD_GRACE, SILENCE_MAX
from core.secrets import Secret
from ports.mailboxes import Changed, Due, Figure, WorkKind
from tests.mailboxes import RecordedMailboxes, keep_time
from tests.payment_provider import KEY, PaymentProvider, running_provider
from tests.world.billing import CUSTOMER, MONTH, SUBSCRIPTION, Seller, insert_seller
from tests.world.world import World


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[PaymentProvider]:
    """A payment provider, which is asked again without a pause."""
    monkeypatch.setattr(stripe, "PAUSE_SECONDS_MIN", 0.0)
    monkeypatch.setattr(billing_reconciler, "PAUSE_SECONDS", 0.0)
    with running_provider() as provider:
        yield provider


@pytest.fixture
async def gateway(world: World, provider: PaymentProvider) -> AsyncIterator[StripeGateway]:
    """The gateway to the provider."""
    gateway = StripeGateway(url=provider.url, key=Secret(KEY), clock=world.clock)
    yield gateway
    await gateway.close()


@pytest.fixture
async def shop(world: World, provider: PaymentProvider) -> Seller:
    """The seller with an active subscription, as the provider has it."""
    shop = insert_seller(world)
    shop.bind_customer(mode="test")
    await shop.report("customer.subscription.created", shop.subscription())
    tell(provider, shop)
    return shop


@pytest.fixture
def reconciler(world: World, gateway: StripeGateway, mailboxes: RecordedMailboxes) -> BillingReconciler:
    """The reconciler."""
    return reconciler_of(world, gateway, mailboxes)


def reconciler_of(world: World, gateway: Any, mailboxes: Any) -> BillingReconciler:
    """Return a reconciler with this gateway."""
    installation = world.installation
    return BillingReconciler(
        database=installation.database, mailboxes=mailboxes, gateway=gateway, metrics=installation.metrics
    )


def tell(provider: PaymentProvider, shop: Seller, status: str = "active", **changes: Any) -> None:
    """Let the provider have the subscription like this."""
    provider.objects[SUBSCRIPTION] = shop.subscription(status, **changes)


def reads(provider: PaymentProvider) -> int:
    """Return how often the provider was asked for a subscription."""
    return len([request for request in provider.requests if request.method == "GET"])


def counted(shop: Seller) -> dict[str, int]:
    """Return how many readings the metrics count, by what they led to."""
    exposition = shop.world.installation.metrics.exposition().decode()
    found = re.findall(r'^sso_billing_reconciliations_total{outcome="(\w+)"} (\S+)$', exposition, re.MULTILINE)
    return {outcome: int(float(count)) for outcome, count in found if float(count)}


async def test_a_subscription_with_recent_events_is_not_read(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await reconciler.reconcile()

    assert reads(provider) == 0


async def test_a_subscription_without_events_for_long_is_read(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()
    await reconciler.reconcile()

    assert reads(provider) == 1


async def test_a_subscription_whose_period_ended_is_read_and_repaired_with_an_audit_entry(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await shop.report("customer.subscription.updated", shop.subscription(period_end=shop.at + 60))
    shop.world.clock.advance(timedelta(seconds=60) + PERIOD_GRACE)
    tell(provider, shop, price="price_team", period_end=shop.at + 500)

    await reconciler.reconcile()

    assert shop.state() == ("team", "active")
    assert shop.period_end() == shop.at + 500
    details = shop.world.audit_entries("subscription.updated", "details")[-1][0]
    assert details["source"] == "billing_reconciliation"
    assert details["changes"]["plan_name"] == {"from": "Pro", "to": "Team"}
    assert counted(shop).keys() == {"applied"}


async def test_a_subscription_that_has_not_drifted_leaves_no_entry(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    end = shop.period_end()
    tell(provider, shop, period_end=end)
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()

    assert shop.world.audit_entries("subscription.updated") == []


async def test_a_lost_cancellation_is_found(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    tell(provider, shop, "canceled")
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()

    assert shop.state() == ("pro", "cancelled")
    [(_, _, _, details)] = shop.world.audit_entries("subscription.canceled")
    assert details["source"] == "billing_reconciliation"


async def test_a_second_subscription_takes_effect_when_the_first_one_was_ended_here(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    second = shop.subscription(id="sub_2", price="price_team")
    await shop.report("customer.subscription.created", second)
    shop.world.connection.execute("UPDATE subscriptions SET status = 'expired'")
    tell(provider, shop, "canceled")
    provider.objects["sub_2"] = second
    shop.world.clock.advance(CONFLICT_PERIOD)

    await reconciler.reconcile()

    assert [row[1:3] for row in shop.subscriptions()] == [("pro", "expired"), ("team", "active")]


async def test_what_was_changed_here_follows_the_provider_again(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.world.connection.execute("UPDATE subscriptions SET status = 'expired'")
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()

    assert shop.state() == ("pro", "active")


async def test_two_events_of_one_second_are_decided_by_the_provider(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider, mailboxes: RecordedMailboxes
) -> None:
    shop.world.clock.advance(timedelta(seconds=1))
    await shop.send(shop.event("customer.subscription.updated", shop.subscription("past_due")))
    await shop.send(shop.event("customer.subscription.updated", shop.subscription("active", price="price_team")))
    tell(provider, shop, "past_due", price="price_team")

    await reconciler.reconcile()
    await reconciler.reconcile()

    assert shop.state() == ("team", "past_due")
    assert reads(provider) == 1
    # The counter of sales has something to add up.
    assert [sent for sent in mailboxes.sent if sent[0] is WorkKind.SALES] == [(WorkKind.SALES, Changed(Figure.SALES))]


async def test_an_event_that_is_older_than_the_reading_changes_nothing(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await shop.report("customer.subscription.updated", shop.subscription(), created=shop.at + 100)
    shop.world.clock.advance(SILENCE_MAX)
    tell(provider, shop, "past_due")
    await reconciler.reconcile()

    await shop.report("customer.subscription.updated", shop.subscription("active"), created=shop.at - 700_000)

    assert shop.state() == ("pro", "past_due")


async def test_an_event_that_is_newer_than_the_reading_counts(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.world.clock.advance(SILENCE_MAX)
    tell(provider, shop, "past_due")
    await reconciler.reconcile()
    # The provider of the tests tells the real time in its answers.
    shop.world.connection.execute("UPDATE billing_subscriptions SET read_as_of = %s", (shop.world.clock(),))

    await shop.report("customer.subscription.updated", shop.subscription("active"))

    assert shop.state() == ("pro", "active")


async def test_the_reading_counts_beside_an_event_before_it_of_a_clock_that_is_fast(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    # The provider of the tests tells the real time in its answers.
    tomorrow = int(time.time()) + 86_400
    changed = shop.subscription("past_due", period_end=shop.at + 60)
    await shop.report("customer.subscription.updated", changed, created=tomorrow)
    shop.world.clock.advance(timedelta(seconds=60) + PERIOD_GRACE)
    assert shop.state() == ("pro", "past_due")
    tell(provider, shop)

    await reconciler.reconcile()

    assert shop.state() == ("pro", "active")


async def test_a_subscription_that_the_provider_does_not_know_stays_as_it_is(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    del provider.objects[SUBSCRIPTION]
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()
    await reconciler.reconcile()

    assert shop.state() == ("pro", "active")
    assert reads(provider) == 1
    assert counted(shop) == {"unknown": 1}


@pytest.mark.parametrize("body", [{"id": "sub_other", "status": "active"}, {"id": SUBSCRIPTION, "status": "new"}, {}])
async def test_an_unusable_answer_changes_nothing_and_is_asked_for_later(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider, body: Any
) -> None:
    provider.objects[SUBSCRIPTION] = body
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()
    await reconciler.reconcile()
    shop.world.clock.advance(reconciliation.FAILURE_RETRY)
    tell(provider, shop, "past_due")
    await reconciler.reconcile()

    assert shop.state() == ("pro", "past_due")
    assert reads(provider) == 2
    assert counted(shop) == {"failed": 1, "applied": 1}


@pytest.mark.parametrize("date", ["yesterday", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", ""])
async def test_an_answer_with_an_unusable_date_is_read(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider, date: str
) -> None:
    provider.misbehave(200, shop.subscription("past_due"), headers={"Date": date})
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()

    assert shop.state() == ("pro", "past_due")


async def test_a_provider_that_asks_to_wait_stops_the_pass_and_frees_the_lease(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    provider.misbehave(429, {"error": {"type": "rate_limit"}}, times=3, headers={"Retry-After": "17"})
    shop.world.clock.advance(SILENCE_MAX)

    with pytest.raises(BillingRateLimited) as limited:
        await reconciler.reconcile()
    tell(provider, shop, "past_due")
    await reconciler.reconcile()

    assert limited.value.retry_after_seconds == 17
    assert shop.state() == ("pro", "past_due")
    assert counted(shop) == {"rate_limited": 1, "applied": 1}


async def test_the_reconciler_waits_as_long_as_the_provider_asks(
    shop: Seller, mailboxes: RecordedMailboxes, autojump_clock: trio.testing.MockClock
) -> None:
    asked_at: list[float] = []

    class Limited:
        mode = BillingMode.TEST

        async def read_subscription(self, subscription_id: str) -> None:
            asked_at.append(trio.current_time())
            raise BillingRateLimited(retry_after_seconds=300)

    shop.world.clock.advance(SILENCE_MAX)
    one = reconciler_of(shop.world, Limited(), mailboxes)
    with trio.move_on_after(1000):
        async with trio.open_nursery() as nursery:
            keep_time(nursery, one)
            while True:
                # What is due meanwhile waits.
                one.box.send(Due())
                await trio.sleep(10)

    assert len(asked_at) >= 2
    assert all(later - earlier >= 300 for earlier, later in itertools.pairwise(asked_at))


async def test_one_reconciler_reads_an_organization_at_a_time(shop: Seller, mailboxes: RecordedMailboxes) -> None:
    at_once, most = 0, 0

    class Slow:
        mode = BillingMode.TEST

        async def read_subscription(self, subscription_id: str) -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await trio.testing.wait_all_tasks_blocked(0.05)
            at_once -= 1
            raise BillingFailed

    shop.world.clock.advance(SILENCE_MAX)
    reconcilers = [reconciler_of(shop.world, Slow(), mailboxes) for _ in range(3)]
    async with trio.open_nursery() as nursery:
        for one in reconcilers:
            nursery.start_soon(one.reconcile)

    assert most == 1


async def test_a_lease_whose_holder_crashed_expires(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    database = shop.world.installation.database
    shop.world.clock.advance(SILENCE_MAX)
    await database.transact(reconciliation.claim, BillingMode.TEST, 10)

    await reconciler.reconcile()
    during = reads(provider)
    shop.world.clock.advance(reconciliation.LEASE)
    await reconciler.reconcile()

    assert (during, reads(provider)) == (0, 1)


async def test_an_expired_lease_is_not_released_from_another_holder(shop: Seller) -> None:
    database = shop.world.installation.database
    shop.world.clock.advance(SILENCE_MAX)
    crashed = await database.transact(reconciliation.claim, BillingMode.TEST, 10)
    shop.world.clock.advance(reconciliation.LEASE)
    await database.transact(reconciliation.claim, BillingMode.TEST, 10)
    assert crashed is not None

    await database.transact(reconciliation.release, crashed)

    assert shop.world.value("SELECT leased_until FROM billing_customers") is not None


async def test_subscriptions_of_another_mode_are_not_read(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.world.connection.execute("UPDATE billing_customers SET mode = 'sandbox'")
    shop.world.clock.advance(SILENCE_MAX)

    await reconciler.reconcile()

    assert reads(provider) == 0


async def test_a_subscription_that_has_ended_is_never_read(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await shop.report("customer.subscription.deleted", shop.subscription("canceled"))
    shop.world.clock.advance(2 * MONTH)

    await reconciler.reconcile()

    assert reads(provider) == 0


async def test_the_sandbox_is_read_like_the_provider(
    world: World, mailboxes: RecordedMailboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(billing_reconciler, "PAUSE_SECONDS", 0.0)
    seller = insert_seller(world)
    seller.bind_customer(CUSTOMER)
    await seller.report("customer.subscription.created", seller.subscription())
    world.clock.advance(SILENCE_MAX)

    await reconciler_of(world, world.installation.billing, mailboxes).reconcile()

    # The sandbox does not know this one.
    assert seller.state() == ("pro", "active")
    assert replace(seller).outcome() == "applied"


async def test_a_provider_that_hangs_lets_nobody_think_that_the_reconciler_takes_no_messages(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    waiting = [f"sub_{number}" for number in range(100)]

    class Provider:
        mode = BillingMode.TEST

        async def cancel_subscription(self, _subscription_id: str) -> None:
            await trio.sleep(stripe.REQUEST_SECONDS_MAX)
            raise BillingFailed

    class Claims:
        async def transact(self, use_case: object, *_arguments: object) -> str | None:
            await trio.lowlevel.checkpoint()
            return waiting.pop() if use_case is reconciliation.claim_cancellation and waiting else None

    fake: Any = {"database": Claims(), "gateway": Provider(), "metrics": PrometheusMetrics(version="test")}
    reconciler = BillingReconciler(mailboxes=mailboxes, **fake)
    nursery.start_soon(reconciler.run)
    ages = list[float]()
    while waiting:
        reconciler.box.send(Due())
        await trio.sleep(1)
        ages.append(reconciler.box.oldest_seconds)

    assert len(ages) >= 99 * stripe.REQUEST_SECONDS_MAX
    assert max(ages) <= stripe.REQUEST_SECONDS_MAX + 1
