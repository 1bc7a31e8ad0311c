"""The SIEM streamer beside a database that is away: nothing that was sent is forgotten, and it goes on by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.dispatching import PERIOD_SECONDS, RECORD_PAUSE_SECONDS, RECORD_SECONDS_MAX
from actors.siem_streamer import ATTEMPTS_AT_ONCE_MAX, SiemStreamer
from adapters.prometheus import PrometheusMetrics
from core.audit import siem_stream
from core.audit.siem import SiemOptions, SiemProvider
from core.audit.siem_stream import LeasedStream, SiemBatch, SiemEvent, SiemTarget, StreamReceipt
from core.errors import ServiceUnavailable
from ports.database import Database
from ports.mailboxes import Drain
from tests.mailboxes import RecordedMailboxes, let_work

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
LAG = timedelta(seconds=42)
TARGET = SiemTarget(
    organization_id=UUID(int=9),
    provider=SiemProvider.HTTP,
    endpoint="https://x.example",
    token=None,
    options=SiemOptions(),
)
EVENT = SiemEvent(id="1", position=1, action="user.joined", created_at=NOW, payload={})


def stream(number: int) -> LeasedStream:
    """A leased stream."""
    return LeasedStream(
        id=UUID(int=number),
        organization_id=UUID(int=number),
        target=TARGET,
        event_filter=None,
        starts_at=None,
        position=0,
        failures=0,
        leased_until=NOW,
    )


class FakeDatabase:
    """A fake database with due streams, which may be away, and what was recorded in it."""

    def __init__(self, streams: int) -> None:
        self.due = [stream(number) for number in range(streams)]
        self.recorded: list[LeasedStream] = []
        self.is_away = False
        self.refuses_records = False
        self.refuses_reads = False

    async def transact(self, use_case: Any, *args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        if self.is_away:
            raise ServiceUnavailable(retry_after_seconds=1)
        if not isinstance(use_case, partial):
            [free] = args
            leased, self.due = self.due[: free.targets_max], self.due[free.targets_max :]
            return leased
        assert use_case.func is siem_stream.record
        if self.refuses_records:
            raise ServiceUnavailable(retry_after_seconds=1)
        self.recorded.append(use_case.keywords["stream"])
        return None

    async def read(self, use_case: Any, of: LeasedStream) -> SiemBatch:
        await trio.lowlevel.checkpoint()
        assert use_case is siem_stream.next_batch
        if self.refuses_reads:
            raise ServiceUnavailable(retry_after_seconds=1)
        return SiemBatch(events=[EVENT], through=1, has_more=False)


class FakeSender:
    """A fake sender that takes its time and counts how many batches it sends at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.sent = 0
        self.refuses = 0
        self.at_once = 0
        self.at_once_max = 0

    async def send(self, target: SiemTarget, events: Any) -> StreamReceipt:
        self.at_once += 1
        self.at_once_max = max(self.at_once, self.at_once_max)
        await trio.sleep(self.seconds)
        self.at_once -= 1
        self.sent += 1
        if self.sent <= self.refuses:
            return StreamReceipt(received=0, status_code=401, error="The receiver answered 401.")
        return StreamReceipt(received=len(events), status_code=200, error=None)


def streamer(database: FakeDatabase, sender: FakeSender, metrics: PrometheusMetrics | None = None) -> SiemStreamer:
    """A streamer between that database and that sender."""
    return SiemStreamer(
        database=cast("Database", cast("Any", database)),
        mailboxes=RecordedMailboxes(),
        sender=sender,
        clock=lambda: EVENT.created_at + LAG,
        metrics=metrics or PrometheusMetrics(version="1.2.3"),
    )


async def test_at_most_so_many_batches_are_sent_at_once_and_no_leased_stream_waits(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, sender = FakeDatabase(3 * ATTEMPTS_AT_ONCE_MAX), FakeSender(seconds=5)
    nursery.start_soon(streamer(database, sender).run)

    await trio.sleep(18)

    assert (sender.sent, sender.at_once_max) == (3 * ATTEMPTS_AT_ONCE_MAX, ATTEMPTS_AT_ONCE_MAX)
    assert len(database.recorded) == sender.sent


async def test_the_outcome_of_each_batch_and_the_age_of_its_oldest_entry_are_measured(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, sender, metrics = FakeDatabase(3), FakeSender(), PrometheusMetrics(version="1.2.3")
    sender.refuses = 1
    nursery.start_soon(streamer(database, sender, metrics).run)

    await trio.sleep(5)

    lines = metrics.exposition().decode().splitlines()
    assert 'sso_siem_attempts_total{outcome="delivered"} 2.0' in lines
    assert 'sso_siem_attempts_total{outcome="refused"} 1.0' in lines
    assert "sso_siem_lag_seconds_count 2.0" in lines
    assert f"sso_siem_lag_seconds_sum {2 * LAG.total_seconds()}" in lines


async def test_a_database_that_is_away_is_reported_once_and_asked_again_at_every_message(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, sender = FakeDatabase(1), FakeSender()
    database.is_away = True
    one = streamer(database, sender)
    nursery.start_soon(one.run)

    with capture_logs() as lines:
        for _ in range(5):
            await let_work(one)
        database.is_away = False
        await let_work(one)
        await trio.sleep(1)

    assert [line["event"] for line in lines] == ["siem.database_away", "siem.sent"]
    assert sender.sent == 1


async def test_an_outcome_is_recorded_when_the_database_is_back(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, sender = FakeDatabase(1), FakeSender()
    database.refuses_records = True
    nursery.start_soon(streamer(database, sender).run)

    await trio.sleep(3 * RECORD_PAUSE_SECONDS)
    assert database.recorded == []
    database.refuses_records = False
    await trio.sleep(2 * RECORD_PAUSE_SECONDS)

    assert (len(database.recorded), sender.sent) == (1, 1)


async def test_an_outcome_that_cannot_be_recorded_is_given_up_so_that_the_streamer_can_stop(
    autojump_clock: MockClock,
) -> None:
    database, sender = FakeDatabase(1), FakeSender()
    database.refuses_records = True
    one = streamer(database, sender)
    began_at = trio.current_time()

    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.run)
            await trio.sleep(PERIOD_SECONDS / 2)
            one.box.send(Drain())

    assert trio.current_time() - began_at <= RECORD_SECONDS_MAX + PERIOD_SECONDS
    assert lines[-1]["event"] == "siem.not_recorded"


async def test_a_batch_that_cannot_be_read_stays_for_later(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    database, sender = FakeDatabase(1), FakeSender()
    database.refuses_reads = True
    one = streamer(database, sender)
    nursery.start_soon(one.run)

    with capture_logs() as lines:
        for _ in range(2):
            await let_work(one)

    assert [line["event"] for line in lines] == ["siem.postponed"]
    assert (sender.sent, database.recorded) == (0, [])
