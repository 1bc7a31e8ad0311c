"""The audit sealer: it seals in batches with pauses, and retries when the database is unavailable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
import trio
from structlog.testing import capture_logs

from actors.audit_sealer import BATCH_ENTRIES_MAX, JOB_TYPE, PAUSE_SECONDS, PERIOD_SECONDS, AuditSealer
from adapters.prometheus import PrometheusMetrics
from core.audit.chain import seal_next
from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from trio.testing import MockClock

    from ports.database import Database

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


class FakeDatabase:
    """A fake database of unsealed entries that records when they were sealed."""

    def __init__(self, entries: int = 0) -> None:
        self.entries = entries
        self.failure: Exception | None = None
        self.sealed_at: list[float] = []

    async def transact(self, use_case: object, limit: int) -> int:
        assert use_case is seal_next
        await trio.lowlevel.checkpoint()
        if self.failure is not None:
            raise self.failure
        self.sealed_at.append(trio.current_time())
        sealed = min(self.entries, limit)
        self.entries -= sealed
        return sealed


def sealer(database: FakeDatabase, metrics: PrometheusMetrics | None = None) -> AuditSealer:
    """A sealer of that database."""
    return AuditSealer(
        database=cast("Database", cast("Any", database)), metrics=metrics or PrometheusMetrics(version="1.2.3")
    )


async def test_many_entries_are_sealed_in_batches_with_pauses_and_new_ones_every_period(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(BATCH_ENTRIES_MAX + 7), trio.current_time()
    nursery.start_soon(sealer(database).run)

    await trio.sleep(1.5 * PERIOD_SECONDS)

    batches = [0, PAUSE_SECONDS, 2 * PAUSE_SECONDS]
    assert [moment - began_at for moment in database.sealed_at] == pytest.approx(
        [*batches, batches[-1] + PERIOD_SECONDS]
    )
    assert database.entries == 0


async def test_an_unavailable_database_is_retried_after_a_period(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(1)
    database.failure = ServiceUnavailable(retry_after_seconds=1)
    nursery.start_soon(sealer(database).run)

    with capture_logs() as lines:
        await trio.sleep(PERIOD_SECONDS / 2)
        database.failure = None
        await trio.sleep(PERIOD_SECONDS)

    assert [line["event"] for line in lines] == ["job.postponed"]
    assert database.entries == 0


async def test_every_run_is_measured(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    metrics = PrometheusMetrics(version="1.2.3")
    nursery.start_soon(sealer(FakeDatabase(), metrics).run)

    await trio.sleep(PERIOD_SECONDS + 1)

    assert f'{{job_type="{JOB_TYPE}"}} 2.0' in metrics.exposition().decode()
