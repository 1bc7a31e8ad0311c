"""The counter of service users: it counts changes in batches, then adds milestones."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.counters import (
    BATCH_USERS_MAX,
    USERS_PAUSE_SECONDS,
    ServiceUserCounter,
)
from adapters.prometheus import PrometheusMetrics
from core.service_api.users import add_milestones, count_changes
from ports.database import Database
from ports.listening import PollingRole
from ports.mailboxes import Due
from tests.mailboxes import RecordedMailboxes, keep_time, start


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


def counter(database: FakeDatabase, metrics: PrometheusMetrics | None = None) -> ServiceUserCounter:
    """A counter of that database."""
    return ServiceUserCounter(
        database=cast("Database", cast("Any", database)),
        mailboxes=RecordedMailboxes(),
        metrics=metrics or PrometheusMetrics(version="1.2.3"),
    )


async def test_all_changes_are_counted_in_batches_and_then_milestones_added(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(2 * BATCH_USERS_MAX + 7), trio.current_time()
    metrics = PrometheusMetrics(version="1.2.3")
    start(nursery, counter(database, metrics))

    await trio.sleep(1)

    assert [what for what, _ in database.done] == ["changes"] * 3 + ["milestones"]
    assert [moment - began_at for _, moment in database.done] == pytest.approx(
        [0, USERS_PAUSE_SECONDS, 2 * USERS_PAUSE_SECONDS, 2 * USERS_PAUSE_SECONDS]
    )
    assert database.changes == 0
    assert f'{{job_type="{ServiceUserCounter.job_type}"}} 1.0' in metrics.exposition().decode()


async def test_it_counts_when_told_and_no_more_often_than_every_period(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(), trio.current_time()
    one = counter(database)
    # The process polls, and knows of no changes.
    keep_time(nursery, one).enter(PollingRole.POLLING)

    await trio.sleep(3 * ServiceUserCounter.period_seconds)
    quiet = list(database.done)
    for _ in range(2 * round(ServiceUserCounter.period_seconds)):
        one.box.send(Due())
        await trio.sleep(1)

    assert [moment - began_at for what, moment in database.done if what == "changes"] == [0, 30, 40]
    assert [what for what, _ in quiet] == ["changes", "milestones"]
