"""The audit counter: entries are counted beforehand, in batches, and an absent database is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
import trio
from structlog.testing import capture_logs

from actors.audit_counter import BATCH_ENTRIES_MAX, JOB_TYPE, PAUSE_SECONDS, PERIOD_SECONDS, AuditCounter
from adapters.prometheus import PrometheusMetrics
from core.audit.audit_log import count_next
from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from trio.testing import MockClock

    from ports.database import Database

# Every test names the clock itself, because pytest-trio looks for one among the arguments of the test alone.


class Heap:
    """A database that holds only uncounted entries, and remembers when somebody counted."""

    def __init__(self, entries: int = 0) -> None:
        self.entries = entries
        self.failure: Exception | None = None
        self.asked_at: list[float] = []

    async def transact(self, use_case: object, limit: int) -> int:
        assert use_case is count_next
        await trio.lowlevel.checkpoint()
        if self.failure is not None:
            raise self.failure
        self.asked_at.append(trio.current_time())
        counted = min(self.entries, limit)
        self.entries -= counted
        return counted


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of their own."""
    return PrometheusMetrics(version="1.2.3")


def counter(heap: Heap, metrics: PrometheusMetrics) -> AuditCounter:
    """A counter of that database."""
    return AuditCounter(database=cast("Database", cast("Any", heap)), metrics=metrics)


async def test_it_counts_at_once_and_then_every_period(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    heap, began_at = Heap(), trio.current_time()
    nursery.start_soon(counter(heap, metrics).run)

    await trio.sleep(2 * PERIOD_SECONDS + 1)

    assert [moment - began_at for moment in heap.asked_at] == pytest.approx([0, PERIOD_SECONDS, 2 * PERIOD_SECONDS])


async def test_much_is_counted_in_batches_with_a_pause_between_them(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    heap, began_at = Heap(2 * BATCH_ENTRIES_MAX + 7), trio.current_time()
    nursery.start_soon(counter(heap, metrics).run)

    await trio.sleep(PERIOD_SECONDS / 2)

    assert [moment - began_at for moment in heap.asked_at] == pytest.approx([0, PAUSE_SECONDS, 2 * PAUSE_SECONDS])
    assert heap.entries == 0


async def test_an_absent_database_is_asked_again_after_a_period(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    heap = Heap(1)
    heap.failure = ServiceUnavailable(retry_after_seconds=1)
    nursery.start_soon(counter(heap, metrics).run)

    with capture_logs() as lines:
        await trio.sleep(PERIOD_SECONDS / 2)
        heap.failure = None
        await trio.sleep(PERIOD_SECONDS)

    assert [line["event"] for line in lines] == ["job.postponed"]
    assert heap.entries == 0


async def test_its_work_is_measured(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    nursery.start_soon(counter(Heap(), metrics).run)

    await trio.sleep(PERIOD_SECONDS + 1)

    assert f'{{job_type="{JOB_TYPE}"}} 2.0' in metrics.exposition().decode()
