"""The figures of a webhook: the share that arrived, the sums of its hours, and whether these are exact."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from core.limits import COUNTED_MAX
from core.webhooks.health import DeliveryCounts, HourOfDeliveries, WebhookHealth
from core.webhooks.webhooks import Webhook

NOW = datetime(2026, 2, 3, 4, tzinfo=UTC)
WEBHOOK = Webhook(
    id=UUID(int=1),
    name="Receiver",
    url="https://receiver.example",
    events=["user.created"],
    is_active=True,
    created_at=NOW,
    updated_at=NOW,
)


def hour(delivered: int, waiting: int, failed: int, *, retried: int = 0) -> HourOfDeliveries:
    """Return an hour with so many deliveries."""
    return HourOfDeliveries(since=NOW, delivered=delivered, waiting=waiting, retried=retried, failed=failed)


def health(hours: Sequence[HourOfDeliveries]) -> WebhookHealth:
    """Return the health of a webhook with these hours."""
    return WebhookHealth(
        webhook=WEBHOOK, hours=hours, p95_ms=None, previous_until=None, last_failure_at=None, last_error=None
    )


@pytest.mark.parametrize(
    ("delivered", "waiting", "retried", "failed", "percent", "is_failing"),
    [
        (3, 0, 0, 1, 75, True),
        (3, 96, 0, 1, 75, True),
        (2, 0, 0, 0, 100, False),
        (0, 0, 0, 2, 0, True),
        (1, 4, 3, 0, 25, True),
        (0, 4, 4, 0, 0, True),
        (0, 5, 0, 0, None, False),
        (0, 0, 0, 0, None, False),
    ],
)
def test_the_share_that_arrived_is_of_those_that_were_attempted(
    delivered: int, waiting: int, retried: int, failed: int, percent: float | None, *, is_failing: bool
) -> None:
    counts = DeliveryCounts(delivered=delivered, waiting=waiting, retried=retried, failed=failed)

    assert (counts.success_percent, counts.is_failing) == (percent, is_failing)


def test_the_deliveries_of_a_webhook_are_those_of_all_hours() -> None:
    counts = health([hour(1, 2, 3, retried=1), hour(10, 20, 30, retried=5)]).counts

    assert counts == DeliveryCounts(delivered=11, waiting=22, retried=6, failed=33)
    assert counts.total == 66
    assert health([]).counts.total == 0


def test_the_numbers_are_exact_until_an_hour_has_more_than_are_counted() -> None:
    full = hour(COUNTED_MAX - 2, 1, 1)

    assert health([full, full]).is_exact
    assert not health([full, hour(COUNTED_MAX - 1, 1, 1)]).is_exact


def test_an_hour_ends_where_the_next_one_begins() -> None:
    assert hour(0, 0, 0).until == NOW + timedelta(hours=1)
