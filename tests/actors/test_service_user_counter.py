"""The counter of service users: it counts changes in batches, then adds milestones, every period."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.doorbells import MemoryDoorbells
from actors.service_user_counter import (
    BATCH_CHANGES_MAX,
    JOB_TYPE,
    PAUSE_SECONDS,
    PERIOD_SECONDS,
    ServiceUserCounter,
)
from adapters.prometheus import PrometheusMetrics
from core.service_api.users import add_milestones, count_changes
from ports.database import Database
from ports.doorbells import Bell


class FakeDatabase:
    """A fake database of uncounted changes that records what was done when."""

    def __init__(self, changes: int = 0) -> None:
        self.changes = changes
        self.done: list[tuple[str, float]] = []

    async def transact(self, use_case: object, *limits: int) -> int:
        await trio.lowlevel.checkpoint()
        self.done.append(("milestones" if use_case is add_milestones else "changes", trio.current_time()))
        if use_case is add_milestones:
            return 0
        assert use_case is count_changes
        counted = min(self.changes, *limits)
        self.changes -= counted
        return counted


def start(
    database: FakeDatabase, nursery: trio.Nursery, *, doorbells: MemoryDoorbells | None = None
) -> PrometheusMetrics:
    """Start a counter of that database."""
    metrics = PrometheusMetrics(version="1.2.3")
    counter = ServiceUserCounter(
        database=cast("Database", cast("Any", database)), doorbells=doorbells or MemoryDoorbells(), metrics=metrics
    )
    nursery.start_soon(counter.run)
    return metrics


async def test_all_changes_are_counted_in_batches_and_then_milestones_added(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(2 * BATCH_CHANGES_MAX + 7), trio.current_time()
    start(database, nursery)

    await trio.sleep(PERIOD_SECONDS / 2)

    assert [what for what, _ in database.done] == ["changes"] * 3 + ["milestones"]
    assert [moment - began_at for _, moment in database.done] == pytest.approx(
        [0, PAUSE_SECONDS, 2 * PAUSE_SECONDS, 2 * PAUSE_SECONDS]
    )
    assert database.changes == 0


async def test_it_counts_every_period_and_is_measured(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    database = FakeDatabase()
    metrics = start(database, nursery)

    await trio.sleep(2 * PERIOD_SECONDS + 1)

    assert [what for what, _ in database.done] == ["changes", "milestones"] * 3
    assert f'{{job_type="{JOB_TYPE}"}} 3.0' in metrics.exposition().decode()


async def test_while_bells_are_answered_it_counts_after_a_ring_and_no_more_often_than_every_period(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, doorbells, began_at = FakeDatabase(), MemoryDoorbells(), trio.current_time()
    doorbells.answer_for(is_answered=True)
    start(database, nursery, doorbells=doorbells)

    await trio.sleep(3 * PERIOD_SECONDS)
    quiet = list(database.done)
    doorbells.ring(Bell.SERVICE_USERS)
    await trio.sleep(1)
    doorbells.ring(Bell.SERVICE_USERS)
    await trio.sleep(2 * PERIOD_SECONDS)

    assert [moment - began_at for what, moment in database.done if what == "changes"] == [0, 30, 40]
    assert [what for what, _ in quiet] == ["changes", "milestones"]
