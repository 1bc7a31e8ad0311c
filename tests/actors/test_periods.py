"""Actors that do the same at every message: at once, with a measured duration, and again after a failure.

The actors' own tests show what their work is, and how they divide it into batches.
"""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.periods import PeriodicActor
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from ports.mailboxes import Due
from tests.mailboxes import RecordedMailboxes, let_work, start

PERIOD_SECONDS = 60.0
WORK_SECONDS = 2.0


class Clerk(PeriodicActor):
    """An actor whose work is two batches of a second each, and fails as long as there is a failure."""

    job_type = "filing"
    period_seconds = PERIOD_SECONDS

    def __init__(self, metrics: PrometheusMetrics) -> None:
        super().__init__(database=cast("Any", self), metrics=metrics, mailboxes=RecordedMailboxes())
        self.failure: Exception | None = None
        self.batches_at: list[float] = []
        self.worked_at: list[float] = []

    async def transact(self, use_case: object) -> int:
        self.batches_at.append(trio.current_time())
        await trio.sleep(WORK_SECONDS / 2)
        if self.failure is not None:
            raise self.failure
        return len(self.batches_at) % 2

    async def work(self) -> None:
        await self._in_batches(cast("Any", None), full=1)
        self.worked_at.append(trio.current_time())


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of this test alone."""
    return PrometheusMetrics(version="1.2.3")


@pytest.fixture
def clerk(metrics: PrometheusMetrics) -> Clerk:
    return Clerk(metrics)


async def test_it_works_at_every_message_and_is_measured(
    nursery: trio.Nursery, clerk: Clerk, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    began_at = trio.current_time()
    nursery.start_soon(clerk.run)
    await trio.sleep(10)
    untold = list(clerk.worked_at)

    await let_work(clerk)
    await trio.sleep(10)
    await let_work(clerk)

    assert untold == []
    assert [moment - began_at for moment in clerk.worked_at] == pytest.approx([12, 24], abs=0.1)
    exposed = metrics.exposition().decode()
    assert '{job_type="filing"} 2.0' in exposed
    assert 'sum{job_type="filing"} 4.0' in exposed


async def test_a_batch_answers_what_was_sent_before_it_and_the_rest_is_another_run(
    nursery: trio.Nursery, clerk: Clerk, autojump_clock: MockClock
) -> None:
    start(nursery, clerk)
    await trio.sleep(WORK_SECONDS / 4)

    clerk.box.send(Due())
    await trio.sleep(WORK_SECONDS / 2)
    answered = clerk.box.waiting
    clerk.box.send(Due())
    await trio.sleep(5 * WORK_SECONDS)

    assert (answered, clerk.box.waiting) == (0, 0)
    assert (len(clerk.worked_at), len(clerk.batches_at)) == (2, 4)


async def test_a_flood_of_messages_is_one(nursery: trio.Nursery, clerk: Clerk, autojump_clock: MockClock) -> None:
    start(nursery, clerk)
    for _ in range(1_000):
        clerk.box.send(Due())

    await trio.sleep(10 * WORK_SECONDS)

    assert len(clerk.worked_at) == 1


async def test_an_unavailable_database_is_asked_again_at_the_next_message(
    nursery: trio.Nursery, clerk: Clerk, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    clerk.failure = ServiceUnavailable(retry_after_seconds=1)
    nursery.start_soon(clerk.run)

    with capture_logs() as lines:
        await let_work(clerk)
        clerk.failure = None
        await let_work(clerk)

    assert [(line["event"], line["job"], line["retry_seconds"]) for line in lines] == [
        ("job.postponed", "filing", PERIOD_SECONDS)
    ]
    assert len(clerk.worked_at) == 1
    # What failed is measured too.
    assert '{job_type="filing"} 2.0' in metrics.exposition().decode()


async def test_any_other_failure_ends_the_actor(clerk: Clerk, autojump_clock: MockClock) -> None:
    clerk.failure = ValueError("a defect")
    clerk.box.send(Due())

    with pytest.raises(ValueError, match="a defect"):
        await clerk.run()
