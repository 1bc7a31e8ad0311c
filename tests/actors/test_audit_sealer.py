"""The audit sealer seals in batches with pauses, and at every message what is new."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, cast
from uuid import UUID

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors import audit_sealer
from actors.audit_sealer import (
    BACKLOG_SECONDS,
    BATCH_ENTRIES_MAX,
    PAUSE_SECONDS,
    REPORT_SECONDS,
    REST_SECONDS,
    THOROUGH_SECONDS,
    AuditSealer,
)
from adapters.prometheus import PrometheusMetrics
from core.audit import chain
from core.audit.chain import LogPart, SealingBacklog, UnsealedLog
from core.errors import ServiceUnavailable
from ports.database import Database
from ports.mailboxes import WorkKind
from tests.mailboxes import RecordedMailboxes, keep_time, let_work, start

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.

PARTS = [LogPart(since_id=UUID(int=number), end_id=UUID(int=number + 1)) for number in range(3)]


class FakeDatabase:
    """A fake database of unsealed entries that records when they were sealed, and how many at most."""

    def __init__(
        self, entries: int = 0, *, seconds: float = 0.0, largest: Sequence[UnsealedLog] = (), trickle: int = 0
    ) -> None:
        self.entries = entries
        # How many are written before each batch of what is new.
        self.trickle = trickle
        self.sealed_at: list[float] = []
        self.limits: list[int] = []
        self.shares: list[Sequence[UnsealedLog]] = []
        self.spans: list[timedelta | LogPart] = []
        self.failures = 0
        self._seconds = seconds
        self._largest = largest

    async def transact(
        self, use_case: object, limit: int, largest: Sequence[UnsealedLog], within: timedelta | LogPart
    ) -> int:
        assert use_case is chain.seal_next
        await trio.lowlevel.checkpoint()
        self.sealed_at.append(trio.current_time())
        self.limits.append(limit)
        self.shares.append(largest)
        self.spans.append(within)
        if self.failures:
            self.failures -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        await trio.sleep(self._seconds)
        self.entries += self.trickle if within == chain.SEALED_WITHIN else 0
        sealed = min(self.entries, limit)
        self.entries -= sealed
        return sealed

    async def read(self, use_case: object) -> SealingBacklog | Sequence[LogPart]:
        if use_case is chain.parts:
            return PARTS
        assert use_case is chain.backlog
        return SealingBacklog(entries=self.entries, largest=self._largest if self.entries else ())


def sealer(
    database: FakeDatabase, metrics: PrometheusMetrics | None = None, mailboxes: RecordedMailboxes | None = None
) -> AuditSealer:
    """A sealer of that database."""
    return AuditSealer(
        database=cast("Database", cast("Any", database)),
        mailboxes=mailboxes or RecordedMailboxes(),
        metrics=metrics or PrometheusMetrics(version="1.2.3"),
    )


async def test_many_entries_are_sealed_in_batches_with_pauses_and_new_ones_at_every_message(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at, mailboxes = FakeDatabase(BATCH_ENTRIES_MAX + 7), trio.current_time(), RecordedMailboxes()
    one = sealer(database, mailboxes=mailboxes)
    nursery.start_soon(one.run)

    await let_work(one)

    # A full one and the rest, after whose pause each part of the log and what is new have nothing.
    batches = [0, PAUSE_SECONDS, *[2 * PAUSE_SECONDS] * (len(PARTS) + 1)]
    assert [moment - began_at for moment in database.sealed_at] == pytest.approx(batches)
    assert database.entries == 0
    # Each message reaches the readers of this process.
    assert mailboxes.told == [WorkKind.AUDIT_TAILS] * 2
    await let_work(one)
    assert len(database.sealed_at) == len(batches) + 1


async def test_a_small_batch_ends_the_run_though_entries_keep_coming_and_the_next_waits_for_more(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(trickle=3)
    one = sealer(database)
    with trio.fail_after(1):
        await one.work()
    keep_time(nursery, one)

    await trio.sleep(20)

    new = [at for at, within in zip(database.sealed_at, database.spans, strict=True) if within == chain.SEALED_WITHIN]
    assert [later - at for at, later in pairwise(new[-9:])] == pytest.approx([PAUSE_SECONDS + REST_SECONDS] * 8)


async def test_a_backlog_is_reported_and_the_largest_logs_get_a_share_of_each_batch(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    largest = [UnsealedLog(organization_id=UUID(int=1), entries=9)]
    database = FakeDatabase(500 * BATCH_ENTRIES_MAX, seconds=0.04, largest=largest)
    metrics = PrometheusMetrics(version="1.2.3")
    with capture_logs() as lines:
        one = sealer(database, metrics)
        start(nursery, one)
        await trio.sleep(BACKLOG_SECONDS + REPORT_SECONDS + 1)
        during = metrics.exposition().decode()
        await trio.sleep(30)
        await let_work(one)

    reports = [line for line in lines if line["event"] == "audit.sealing"]
    assert {report["log_level"] for report in reports} == {"debug"}
    assert [report["unsealed"] for report in reports] == sorted((one["unsealed"] for one in reports), reverse=True)
    assert f"sso_audit_unsealed_entries {float(reports[1]['unsealed'])}" in during
    assert reports[-1]["unsealed"] == 0
    assert "sso_audit_unsealed_entries 0.0" in metrics.exposition().decode()
    assert sum(report["sealed"] for report in reports) == 500 * BATCH_ENTRIES_MAX
    assert (database.shares[0], database.shares[100], database.shares[-1]) == ((), largest, ())


async def test_entries_of_all_months_are_looked_for_at_the_start_and_every_hour(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    assert THOROUGH_SECONDS == 3600
    # An hour has a thousand periods.
    thorough_seconds = 20 * AuditSealer.period_seconds
    monkeypatch.setattr(audit_sealer, "THOROUGH_SECONDS", thorough_seconds)
    database, began_at = FakeDatabase(BATCH_ENTRIES_MAX + 7), trio.current_time()
    one = sealer(database)
    nursery.start_soon(one.run)

    while trio.current_time() < began_at + thorough_seconds + 3 * AuditSealer.period_seconds:
        await let_work(one)
        await trio.sleep(AuditSealer.period_seconds)

    thorough = [
        moment - began_at for moment, within in zip(database.sealed_at, database.spans, strict=True) if within in PARTS
    ]
    # Part by part, each until nothing is left, and what is new between; later only as often as there may be something.
    new = chain.SEALED_WITHIN
    assert database.spans[:7] == [PARTS[0], new, PARTS[0], PARTS[1], PARTS[2], new, new]
    assert len(thorough) == 4 + len(PARTS)
    assert thorough_seconds <= thorough[-1] <= thorough_seconds + 2 * AuditSealer.period_seconds


async def test_a_batch_that_fails_is_halved(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    database = FakeDatabase(BATCH_ENTRIES_MAX)
    database.failures = 2
    one = sealer(database)
    nursery.start_soon(one.run)

    for _ in range(3):
        await let_work(one)

    assert database.limits[:3] == [BATCH_ENTRIES_MAX, BATCH_ENTRIES_MAX // 2, BATCH_ENTRIES_MAX // 4]
    assert database.entries == 0


async def test_the_figure_ends_when_another_process_has_sealed_the_rest(autojump_clock: MockClock) -> None:
    log = UnsealedLog(organization_id=UUID(int=1), entries=9)
    database = FakeDatabase(20 * BATCH_ENTRIES_MAX, seconds=0.3, largest=[log])
    metrics = PrometheusMetrics(version="1.2.3")
    one = sealer(database, metrics)
    with trio.move_on_after(2 * BACKLOG_SECONDS):
        await one.work()
    assert "sso_audit_unsealed_entries 0.0" not in metrics.exposition().decode()

    database.entries = 0
    await one.work()

    assert "sso_audit_unsealed_entries 0.0" in metrics.exposition().decode()
