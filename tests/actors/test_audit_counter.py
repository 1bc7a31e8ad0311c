"""The audit counter: it counts entries in advance, in batches."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.counters import BATCH_ENTRIES_MAX, PAUSE_SECONDS, AuditCounter
from adapters.prometheus import PrometheusMetrics
from core.audit.audit_log import count_next
from ports.database import Database
from tests.mailboxes import RecordedMailboxes, start

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


class FakeDatabase:
    """A fake database of uncounted entries that records when they were counted."""

    def __init__(self, entries: int = 0) -> None:
        self.entries = entries
        self.counted_at: list[float] = []

    async def transact(self, use_case: object, limit: int) -> int:
        assert use_case is count_next
        await trio.lowlevel.checkpoint()
        self.counted_at.append(trio.current_time())
        counted = min(self.entries, limit)
        self.entries -= counted
        return counted


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of this test alone."""
    return PrometheusMetrics(version="1.2.3")


def counter(database: FakeDatabase, metrics: PrometheusMetrics) -> AuditCounter:
    """A counter of that database."""
    return AuditCounter(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )


async def test_many_entries_are_counted_in_batches_with_pauses(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(2 * BATCH_ENTRIES_MAX + 7), trio.current_time()
    start(nursery, counter(database, metrics))

    await trio.sleep(1)

    assert [moment - began_at for moment in database.counted_at] == pytest.approx([0, PAUSE_SECONDS, 2 * PAUSE_SECONDS])
    assert database.entries == 0
