"""Periodic actors: the same work at the start and every period, measured, and retried after a failure.

The actors' own tests show what their work is, and how they divide it into batches.
"""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.periods import PeriodicActor
from actors.turns import MemoryTurns
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable

PERIOD_SECONDS = 60.0
WORK_SECONDS = 2.0


class Clerk(PeriodicActor):
    """An actor whose work takes a moment, and fails as long as there is a failure."""

    job_type = "filing"
    period_seconds = PERIOD_SECONDS

    def __init__(self, metrics: PrometheusMetrics, turns: MemoryTurns | None = None) -> None:
        super().__init__(database=cast("Any", None), metrics=metrics, turns=turns)
        self.failure: Exception | None = None
        self.worked_at: list[float] = []

    async def work(self) -> None:
        await trio.sleep(WORK_SECONDS)
        if self.failure is not None:
            raise self.failure
        self.worked_at.append(trio.current_time())


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of this test alone."""
    return PrometheusMetrics(version="1.2.3")


@pytest.fixture
def clerk(metrics: PrometheusMetrics) -> Clerk:
    return Clerk(metrics)


async def test_it_works_at_the_start_and_a_period_after_each_end(
    nursery: trio.Nursery, clerk: Clerk, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    began_at = trio.current_time()
    nursery.start_soon(clerk.run)

    await trio.sleep(2 * PERIOD_SECONDS + 3 * WORK_SECONDS + 1)

    assert [moment - began_at for moment in clerk.worked_at] == pytest.approx([2, 64, 126])
    exposed = metrics.exposition().decode()
    assert '{job_type="filing"} 3.0' in exposed
    assert 'sum{job_type="filing"} 6.0' in exposed


async def test_an_unavailable_database_is_retried_after_a_period(
    nursery: trio.Nursery, clerk: Clerk, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    clerk.failure = ServiceUnavailable(retry_after_seconds=1)
    nursery.start_soon(clerk.run)

    with capture_logs() as lines:
        await trio.sleep(PERIOD_SECONDS / 2)
        clerk.failure = None
        await trio.sleep(PERIOD_SECONDS)

    assert [(line["event"], line["job"], line["retry_seconds"]) for line in lines] == [
        ("job.postponed", "filing", PERIOD_SECONDS)
    ]
    assert len(clerk.worked_at) == 1
    # What failed is measured too.
    assert '{job_type="filing"} 2.0' in metrics.exposition().decode()


async def test_any_other_failure_ends_the_actor(clerk: Clerk, autojump_clock: MockClock) -> None:
    clerk.failure = ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        await clerk.run()


async def test_it_works_only_in_its_turn_and_at_once_when_that_begins(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    turns = MemoryTurns()
    clerk = Clerk(metrics, turns)
    nursery.start_soon(clerk.run)
    await trio.sleep(2.5 * PERIOD_SECONDS)
    before = list(clerk.worked_at)
    began_at = trio.current_time()

    turns.give(is_ours=True)
    await trio.sleep(WORK_SECONDS + 1)
    turns.give(is_ours=False)
    await trio.sleep(5 * PERIOD_SECONDS)

    assert (before, [moment - began_at for moment in clerk.worked_at]) == ([], [WORK_SECONDS])
