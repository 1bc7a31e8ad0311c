"""The housekeeper: it deletes leftovers in batches."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.housekeeper import KINDS_AT_ONCE, PARTS, PAUSE_SECONDS, PERIOD_SECONDS, Housekeeper
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.platform import ended_organizations
from core.platform.housekeeping import BATCH_ROWS_MAX, Leftover, sweep
from core.privacy.anonymization import forget_next_closed
from core.scim import left_directories
from ports.database import Database
from ports.metrics import Metrics
from tests.clock import SettableClock
from tests.mailboxes import RecordedMailboxes, let_work, start

# The kind that is swept first.
FIRST = next(iter(Leftover)).value
# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


class FakeDatabase:
    """A fake database with a number of leftovers of each kind, which records when each kind was swept."""

    def __init__(self, **rows: int) -> None:
        self.rows = rows
        self.closed_accounts = 0
        self.left_directories = 0
        self.ended_organizations = 0
        self.is_away = False
        self.swept: list[tuple[float, str]] = []
        self.kept_for: dict[Leftover, timedelta] = {}
        self.limits: dict[str, list[int]] = {}
        # More than that takes too long.
        self.rows_at_once_max: dict[str, int] = {}

    async def transact(self, use_case: object, *arguments: Any) -> int:
        if use_case is sweep:
            assert not arguments[0].is_one_statement
            return await self.sweep(*arguments)
        if use_case is left_directories.forget_next:
            self.left_directories -= 1
            return self.left_directories >= 0
        if use_case is ended_organizations.delete_next:
            self.ended_organizations -= 1
            return self.ended_organizations >= 0
        assert use_case is forget_next_closed
        self.closed_accounts -= 1
        return self.closed_accounts >= 0

    async def step(self, use_case: object, *arguments: Any) -> int:
        assert use_case is sweep
        assert arguments[0].is_one_statement
        return await self.sweep(*arguments)

    async def sweep(self, leftover: Leftover, kept_for: timedelta, limit: int) -> int:
        await trio.lowlevel.checkpoint()
        if self.is_away:
            raise ServiceUnavailable(retry_after_seconds=1)
        self.swept.append((trio.current_time(), leftover.value))
        self.kept_for[leftover] = kept_for
        self.limits.setdefault(leftover.value, []).append(limit)
        if limit > self.rows_at_once_max.get(leftover.value, limit):
            raise ServiceUnavailable(retry_after_seconds=1)
        remaining = self.rows.get(leftover.value, 0)
        self.rows[leftover.value] = remaining - min(remaining, limit)
        return min(remaining, limit)


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of this test alone."""
    return PrometheusMetrics(version="1.2.3")


def housekeeper(database: object, metrics: Metrics) -> Housekeeper:
    """A housekeeper of that database."""
    return Housekeeper(database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes())


async def test_every_kind_has_its_turn_once_in_a_period_and_few_of_them_at_once(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    keeper = housekeeper(fake, metrics)
    nursery.start_soon(keeper.run)

    swept = [len(fake.swept)]
    for _ in range(3 * len(PARTS)):
        await let_work(keeper)
        swept.append(len(fake.swept))

    assert [kind for _, kind in fake.swept] == [leftover.value for leftover in Leftover] * 3
    assert max(after - before for before, after in pairwise(swept)) == KINDS_AT_ONCE
    assert keeper.period_seconds * len(PARTS) == PERIOD_SECONDS


async def test_a_part_whose_database_was_unavailable_is_swept_next(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    fake.is_away = True
    keeper = housekeeper(fake, metrics)
    nursery.start_soon(keeper.run)
    await let_work(keeper)
    fake.is_away = False

    await let_work(keeper)

    assert [kind for _, kind in fake.swept][:KINDS_AT_ONCE] == [one.value for one in Leftover][:KINDS_AT_ONCE]


async def test_many_rows_are_deleted_in_batches_with_pauses(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake, began_at = FakeDatabase(**{FIRST: 3 * BATCH_ROWS_MAX + 7}), trio.current_time()
    start(nursery, housekeeper(fake, metrics))

    with capture_logs() as lines:
        await trio.sleep(1)

    moments = [moment - began_at for moment, kind in fake.swept if kind == FIRST]
    assert moments == pytest.approx([0, PAUSE_SECONDS, 2 * PAUSE_SECONDS, 3 * PAUSE_SECONDS])
    assert fake.rows[FIRST] == 0
    assert [(line["event"], line["table"], line["rows"]) for line in lines] == [
        ("housekeeping.swept", FIRST, 3 * BATCH_ROWS_MAX + 7)
    ]


async def test_a_batch_that_fails_is_halved_the_next_time(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase(events=BATCH_ROWS_MAX)
    fake.rows_at_once_max["events"] = BATCH_ROWS_MAX // 3
    keeper = housekeeper(fake, metrics)
    nursery.start_soon(keeper.run)

    for _ in range(3 * len(PARTS)):
        await let_work(keeper)

    assert fake.limits["events"][:3] == [BATCH_ROWS_MAX, BATCH_ROWS_MAX // 2, BATCH_ROWS_MAX // 4]
    assert fake.rows["events"] < BATCH_ROWS_MAX


async def test_closed_accounts_whose_time_is_over_are_forgotten_one_by_one(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    fake.closed_accounts = 3
    start(nursery, housekeeper(fake, metrics))

    with capture_logs() as lines:
        await trio.sleep(1)

    assert lines == [{"event": "housekeeping.accounts_forgotten", "accounts": 3, "log_level": "info"}]


async def test_the_groups_of_directories_that_left_are_forgotten_one_by_one(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    fake.left_directories = 2
    start(nursery, housekeeper(fake, metrics))

    with capture_logs() as lines:
        await trio.sleep(1)

    assert lines == [{"event": "housekeeping.directories_forgotten", "directories": 2, "log_level": "info"}]


async def test_organizations_whose_time_is_over_are_deleted_part_by_part(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    fake.ended_organizations = 4
    start(nursery, housekeeper(fake, metrics))

    with capture_logs() as lines:
        await trio.sleep(1)

    assert lines == [{"event": "housekeeping.organizations_deleted", "parts": 4, "log_level": "info"}]


async def test_what_the_operator_sets_is_kept_that_long_and_everything_else_as_declared(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    week = timedelta(days=7)
    database = cast("Database", cast("Any", fake))
    kept_for = {Leftover.WEBHOOK_DELIVERIES: week}
    keeper = Housekeeper(database=database, metrics=metrics, mailboxes=RecordedMailboxes(), kept_for=kept_for)
    nursery.start_soon(keeper.run)

    for _ in PARTS:
        await let_work(keeper)

    assert fake.kept_for == {leftover: leftover.kept_for for leftover in Leftover} | kept_for


async def test_a_kind_that_always_fails_leaves_the_others_their_turns(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(**{FIRST: 1})
    database.rows_at_once_max = {FIRST: 0}
    keeper = housekeeper(database, metrics)
    nursery.start_soon(keeper.run)

    for _ in range(3 * len(PARTS)):
        await let_work(keeper)

    assert {kind for _, kind in database.swept} == {kind.value for kind in Leftover}


async def test_concurrent_housekeepers_delete_all_old_rows_and_no_others(
    nursery: trio.Nursery,
    database: PostgresDatabase,
    connection: Connection,
    clock: SettableClock,
    metrics: PrometheusMetrics,
    autojump_clock: MockClock,
) -> None:
    old, young = clock() - timedelta(minutes=15), clock() - timedelta(minutes=14)
    connection.execute(
        """
        INSERT INTO sign_in_failures (id, email_hash, network, created_at)
        SELECT gen_random_uuid(), '', '-', %s FROM generate_series(1, %s)
        """,
        (old, 4 * BATCH_ROWS_MAX),
    )
    connection.execute("INSERT INTO sign_in_failures VALUES (gen_random_uuid(), '', '-', %s)", (young,))

    async def are_left(number: int) -> bool:
        return connection.execute("SELECT count(*) FROM sign_in_failures").fetchall() == [(number,)]

    keepers = [housekeeper(database, metrics) for _ in range(3)]

    async def have_their_turns() -> None:
        for _ in PARTS:
            async with trio.open_nursery() as telling:
                for keeper in keepers:
                    telling.start_soon(let_work, keeper)

    for keeper in keepers:
        nursery.start_soon(keeper.run)
    await have_their_turns()
    assert await are_left(1)
    clock.advance(timedelta(minutes=1))
    await have_their_turns()
    assert await are_left(0)
