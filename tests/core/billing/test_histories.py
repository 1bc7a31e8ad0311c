"""What the events of a subscription add up to, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from core.billing.histories import HistoryEntry, State, state_of
from core.billing.provider import Facts
from core.billing.provider_events import Effect
from core.services.subscriptions import SubscriptionStatus

NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)
ACTIVE, PAST_DUE = SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE
CANCELLED, EXPIRED = SubscriptionStatus.CANCELLED, SubscriptionStatus.EXPIRED


def at(seconds: int) -> datetime:
    """Return a time."""
    return NOON + timedelta(seconds=seconds)


def entry(
    effect: Effect,
    seconds: int,
    status: SubscriptionStatus | None = None,
    *,
    price: str | None = None,
    end: int | None = None,
    is_read: bool = False,
) -> HistoryEntry:
    """Return an entry of a history."""
    facts = Facts(status=status, price_id=price, period_end=at(end) if end is not None else None)
    return HistoryEntry(
        event_id=f"evt_{effect}_{seconds}_{status}",
        occurred_at=at(seconds),
        effect=effect,
        facts=facts,
        is_read=is_read,
    )


def snapshot(seconds: int, status: SubscriptionStatus = ACTIVE, **facts: object) -> HistoryEntry:
    """Return a whole subscription."""
    return entry(Effect.SNAPSHOT, seconds, status, **facts)  # pyright: ignore[reportArgumentType]


def test_without_an_event_that_tells_of_it_there_is_no_subscription() -> None:
    assert state_of([]) is None
    assert state_of([entry(Effect.PAID, 1), entry(Effect.PAYMENT_FAILED, 2)]) is None


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([snapshot(1)], ACTIVE),
        ([snapshot(1), snapshot(2, PAST_DUE)], PAST_DUE),
        ([snapshot(1), entry(Effect.PAYMENT_FAILED, 2)], PAST_DUE),
        ([snapshot(1), entry(Effect.PAYMENT_FAILED, 2), entry(Effect.PAID, 3)], ACTIVE),
        ([entry(Effect.PAYMENT_FAILED, 1), snapshot(2)], ACTIVE),
        ([entry(Effect.SESSION, 1, ACTIVE)], ACTIVE),
        ([entry(Effect.SESSION, 1, PAST_DUE), entry(Effect.PAID, 2)], ACTIVE),
        ([entry(Effect.SESSION, 3, ACTIVE), snapshot(1, PAST_DUE)], PAST_DUE),
        ([snapshot(1), entry(Effect.ENDED, 2, CANCELLED)], CANCELLED),
        ([snapshot(1), entry(Effect.ENDED, 2)], CANCELLED),
        ([snapshot(1), entry(Effect.ENDED, 2, ACTIVE)], CANCELLED),
        ([snapshot(1), entry(Effect.ENDED, 2, EXPIRED)], EXPIRED),
        ([entry(Effect.ENDED, 1, CANCELLED), snapshot(2), entry(Effect.PAID, 3)], CANCELLED),
        ([snapshot(1, EXPIRED), snapshot(2)], EXPIRED),
    ],
)
def test_the_state_is_the_same_in_whatever_order_the_events_are_given(
    history: list[HistoryEntry], expected: SubscriptionStatus
) -> None:
    states = [state_of(order) for order in permutations(history)]

    assert {state.status for state in states if state is not None} == {expected}
    assert states == [states[0]] * len(states)


def test_the_newest_whole_subscription_tells_price_and_period() -> None:
    history = [snapshot(1, price="a", end=10), snapshot(2, price="b", end=5)]

    assert state_of(history) == State(status=ACTIVE, price_id="b", period_end=at(5))


def test_a_paid_invoice_extends_the_period_and_never_shortens_it() -> None:
    history = [snapshot(1, end=10), entry(Effect.PAID, 2, end=20), entry(Effect.PAID, 3, end=15), entry(Effect.PAID, 4)]

    assert state_of(history) == State(status=ACTIVE, price_id=None, period_end=at(20))


def test_a_period_that_nothing_tells_is_unknown() -> None:
    assert state_of([snapshot(1), entry(Effect.PAID, 2)]) == State(status=ACTIVE, price_id=None, period_end=None)


def test_the_subscriptions_of_a_deleted_customer_are_cancelled() -> None:
    assert state_of([snapshot(1)], is_customer_deleted=True) == State(status=CANCELLED, price_id=None, period_end=None)
    assert state_of([snapshot(1, EXPIRED)], is_customer_deleted=True) == State(
        status=EXPIRED, price_id=None, period_end=None
    )


@pytest.mark.parametrize(
    ("history", "is_ambiguous"),
    [
        ([snapshot(1), snapshot(2)], False),
        ([snapshot(1), snapshot(1, PAST_DUE)], True),
        ([snapshot(1), entry(Effect.PAID, 1)], True),
        ([snapshot(1), entry(Effect.PAID, 2), entry(Effect.PAYMENT_FAILED, 2)], True),
        ([snapshot(1), entry(Effect.SESSION, 1, ACTIVE)], False),
        ([snapshot(1), snapshot(1, PAST_DUE), snapshot(2)], False),
        ([snapshot(1), snapshot(1, PAST_DUE), snapshot(1, is_read=True)], False),
        ([snapshot(1), snapshot(1, PAST_DUE), snapshot(0, is_read=True)], True),
        ([snapshot(1), snapshot(1, is_read=True), entry(Effect.PAID, 2), entry(Effect.PAYMENT_FAILED, 2)], True),
        ([snapshot(1), snapshot(1, CANCELLED)], False),
    ],
)
def test_two_events_of_one_second_leave_the_state_open_until_the_provider_is_asked(
    history: list[HistoryEntry], is_ambiguous: bool
) -> None:
    state = state_of(history)

    assert state is not None
    assert state.is_ambiguous == is_ambiguous


def test_a_reading_counts_before_the_events_of_its_second_and_after_the_older_ones() -> None:
    read = snapshot(5, PAST_DUE, is_read=True)

    assert state_of([snapshot(5), read]) == State(status=PAST_DUE, price_id=None, period_end=None)
    assert state_of([snapshot(6), read]) == State(status=ACTIVE, price_id=None, period_end=None)
