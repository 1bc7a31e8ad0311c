"""Outages: a database that stops, dies, hangs or loses its connections, under a small load of concurrent calls.

Every call gets its answer or `ServiceUnavailable`, and the latter within a second. When the database is back, full
service returns within two seconds without intervention.
"""

from __future__ import annotations

import errno
import math
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import NoReturn

import psycopg
import pytest
import structlog
import trio

from adapters.postgres import database as databases
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import pool as pools
from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.pool import IDLE_SECONDS_MAX, Pool
from adapters.postgres.driver.timed_connection import TRUSTED_SECONDS, TimedConnection
from adapters.postgres.schema import migrations
from adapters.postgres.transaction import Tools
from core.errors import ServiceUnavailable
from core.platform import health_figures
from core.spaced_reports import SpacedReports
from tests.adapters.outages import (
    CONNECTIONS_MAX,
    RECOVERY_SECONDS_MAX,
    REFUSAL_SECONDS_MAX,
    Load,
    Server,
    assert_full_service_returns,
    assert_nothing_confirmed_was_lost,
    assert_refusals_were_quick,
    load_on,
    refusals,
)
from tests.mailboxes import RecordedMailboxes
from tests.postgres import data_folder
from tests.shares import of_client
from tests.stopwatch import Stopwatch
from tests.waiting import WAIT_SECONDS_MAX, eventually

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL of its own."""
    with data_folder() as folder:
        server = Server(folder)
        with migrations.connected(server.url) as connection:
            migrations.migrate(connection, lambda _: None)
            connection.execute("CREATE TABLE marks (id uuid PRIMARY KEY)")
        yield server
        server.stop()


@pytest.fixture
async def database(server: Server, tools: Tools) -> AsyncGenerator[PostgresDatabase]:
    """A database on that server."""
    pool = Pool(server.url, connections_max=CONNECTIONS_MAX)
    yield PostgresDatabase(pool=pool, tools=tools, mailboxes=RecordedMailboxes())
    await trio.to_thread.run_sync(pool.close)


async def test_calls_to_a_stopped_database_are_refused_quickly_until_it_is_back(
    server: Server, database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(server.stop)
        await refusals(load)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load, stopwatch)

    assert_refusals_were_quick(load, stopwatch)
    assert_nothing_confirmed_was_lost(load, server)


async def test_calls_to_a_killed_database_are_refused_quickly_until_it_is_back(
    server: Server, database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    async with load_on(database) as load:
        server.kill()
        await refusals(load)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load, stopwatch)

    assert_refusals_were_quick(load, stopwatch)
    assert_nothing_confirmed_was_lost(load, server)


async def test_full_service_returns_after_a_restart(
    server: Server, database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(server.stop)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load, stopwatch)

    assert_refusals_were_quick(load, stopwatch)
    assert_nothing_confirmed_was_lost(load, server)


async def test_terminated_connections_cost_at_most_the_calls_that_were_committing(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        with structlog.testing.capture_logs() as lines:
            await trio.to_thread.run_sync(
                server.execute,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse'",
            )
            await load.full_service()

    assert len(load.refused()) == len([line for line in lines if line["event"] == "database.commit_unknown"])
    assert_nothing_confirmed_was_lost(load, server)


async def test_connections_broken_by_a_restart_without_load_are_replaced_without_a_refusal(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database):
        pass
    await trio.to_thread.run_sync(server.stop)
    await trio.to_thread.run_sync(server.start)

    async with load_on(database) as load:
        pass

    assert load.refused() == []


async def test_calls_to_a_database_that_hangs_are_refused_quickly_until_it_resumes(
    server: Server, database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    async with load_on(database) as load:
        with server.frozen():
            # Two refusals take longer than a connection is trusted without a check.
            assert 2 * databases.WAIT_SECONDS_MAX > TRUSTED_SECONDS
            await refusals(load)
            await refusals(load)
            trusted_until = load.begun
            await refusals(load)
        await assert_full_service_returns(load, stopwatch)

    late = [call.seconds for call in load.calls if call.number >= trusted_until]
    assert late
    stopwatch.assert_within(max(late), REFUSAL_SECONDS_MAX)
    assert_nothing_confirmed_was_lost(load, server)


async def test_an_idle_connection_is_checked_before_it_is_lent(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch
) -> None:
    load = Load(database)
    await load.call(is_reading=True)
    monkeypatch.setattr(timed_connection, "TRUSTED_SECONDS", 0.0)
    # The spare time of statements must not delay a caller that waits for a connection.
    monkeypatch.setattr(timed_connection, "SPARE_SECONDS", 10.0)

    with server.frozen():
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [True, False, True]
    assert_refusals_were_quick(load, stopwatch)


async def test_connections_that_were_idle_for_long_are_replaced_without_a_check(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with load_on(database) as load:
        pass
    await all_idle(database.pool)
    monkeypatch.setattr(timed_connection, "TRUSTED_SECONDS", 0.0)
    for connection in database.pool._idle:
        connection.idle_since -= IDLE_SECONDS_MAX

    # As if a firewall had dropped them: the database works, but they do not answer.
    with server.frozen_connections():
        await load.call(is_reading=True)

    assert load.refused() == []


async def test_a_call_that_hangs_is_ended_and_frees_its_place(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch
) -> None:
    # Longer than the wait for a connection, as the real value is, so that there is no second attempt.
    answer_seconds_max = databases.WAIT_SECONDS_MAX + 0.1
    monkeypatch.setattr(TimedConnection, "_answer_seconds_max", answer_seconds_max)
    load = Load(database)

    async def has_ended() -> bool:
        return bool(load.calls) and database.pool.places.statistics().taken == 0

    async with trio.open_nursery() as nursery:
        for number in range(CONNECTIONS_MAX):
            nursery.start_soon(of_client(database, number).read, health_figures.probe)
    await all_idle(database.pool)
    monkeypatch.setattr(timed_connection, "silences", SpacedReports())
    with structlog.testing.capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            with server.frozen():
                nursery.start_soon(lambda: load.call(is_reading=False))
                await eventually(has_ended)

    (call,) = load.calls
    assert not call.is_answered
    stopwatch.assert_within(call.seconds, 2 * answer_seconds_max, seconds_min=answer_seconds_max)
    assert [line["event"] for line in lines] == ["database.no_answer"]


async def test_existing_connections_work_while_the_database_accepts_no_new_ones(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        with server.accepting_no_connections():
            await load.full_service()

    assert load.refused() == []


async def test_a_database_that_starts_after_the_service_is_used_at_once(
    server: Server, tools: Tools, stopwatch: Stopwatch
) -> None:
    await trio.to_thread.run_sync(server.stop)
    pool = Pool(server.url, connections_max=CONNECTIONS_MAX)
    load = Load(PostgresDatabase(pool=pool, tools=tools, mailboxes=RecordedMailboxes()))

    await load.call(is_reading=True)
    await trio.to_thread.run_sync(server.start)
    with stopwatch.within(RECOVERY_SECONDS_MAX):
        await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]
    assert_refusals_were_quick(load, stopwatch)
    await trio.to_thread.run_sync(pool.close)


async def test_a_caller_that_still_waits_when_the_database_comes_back_is_served(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch
) -> None:
    monkeypatch.setattr(databases, "WAIT_SECONDS_MAX", WAIT_SECONDS_MAX)
    load = Load(database)
    await trio.to_thread.run_sync(server.stop)

    async def is_served() -> bool:
        return bool(load.calls)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: load.call(is_reading=True))
        await trio.to_thread.run_sync(server.start)
        with stopwatch.within(RECOVERY_SECONDS_MAX):
            await eventually(is_served)

    (call,) = load.calls
    assert call.is_answered


async def test_further_connections_are_attempted_at_intervals_when_the_database_refuses_them(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0
    connect = database.pool._connect

    def connect_once() -> TimedConnection:
        nonlocal attempts
        attempts += 1
        if attempts > 1:
            raise psycopg.OperationalError("sorry, too many clients already")
        return connect()

    async def is_attempted_again() -> bool:
        return attempts > CONNECTIONS_MAX

    monkeypatch.setattr(database.pool, "_connect", connect_once)
    monkeypatch.setattr(pools, "CONNECT_AGAIN_SECONDS", math.inf)
    async with load_on(database) as load:
        for _ in range(5):
            await load.full_service()

        # One for each connection may have begun before the first failed.
        assert 1 < attempts <= CONNECTIONS_MAX
        monkeypatch.setattr(pools, "CONNECT_AGAIN_SECONDS", 0.0)
        await eventually(is_attempted_again)


async def test_the_log_names_the_reason_of_a_failed_connection_without_its_address(
    server: Server, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_connection, "connect_failures", SpacedReports())
    pool = Pool("postgresql://gatehouse:hunter2@127.0.0.1:1/gatehouse", connections_max=1)

    with structlog.testing.capture_logs() as lines, pytest.raises(ServiceUnavailable):
        await PostgresDatabase(pool=pool, tools=tools, mailboxes=RecordedMailboxes()).read(health_figures.probe)

    assert [(line["event"], line["reason"]) for line in lines] == [("database.connect_failed", "Connection refused")]
    await trio.to_thread.run_sync(pool.close)


async def test_the_log_says_once_that_the_database_is_back_and_how_long_it_was_away(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0

    def connect() -> TimedConnection:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise psycopg.OperationalError("connection refused")
        return TimedConnection.open(server.url)

    monkeypatch.setattr(database.pool, "_connect", connect)
    monkeypatch.setattr(pools, "CONNECT_AGAIN_SECONDS", 0.0)

    with structlog.testing.capture_logs() as lines:
        async with load_on(database) as load:
            await load.full_service()

    [back] = [line for line in lines if line["event"] == "database.reconnected"]
    assert back["away_s"] >= 0
    assert back["log_level"] == "info"
    assert attempts >= 3


async def test_a_database_without_room_for_another_connection_was_not_away(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_full = False

    def connect() -> TimedConnection:
        if is_full:
            raise psycopg.OperationalError("too many clients already")
        return TimedConnection.open(server.url)

    monkeypatch.setattr(database.pool, "_connect", connect)
    monkeypatch.setattr(pools, "CONNECT_AGAIN_SECONDS", 0.0)
    with structlog.testing.capture_logs() as lines:
        await database.read(health_figures.probe)
        is_full = True
        async with trio.open_nursery() as nursery:
            for number in range(CONNECTIONS_MAX):
                nursery.start_soon(of_client(database, number).read, health_figures.probe)
        is_full = False
        async with trio.open_nursery() as nursery:
            for number in range(CONNECTIONS_MAX):
                nursery.start_soon(of_client(database, number).read, health_figures.probe)

    assert [line for line in lines if line["event"] == "database.reconnected"] == []


async def test_a_call_is_refused_when_the_system_opens_no_more_files(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(database)
    # The selector that the driver waits with while it connects is a file as well.
    with monkeypatch.context() as patch:
        patch.setattr("psycopg.waiting.DefaultSelector", refuse_with(OSError(errno.EMFILE, "Too many open files")))
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]


async def test_a_call_is_refused_when_the_system_starts_no_more_threads(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(database)
    with monkeypatch.context() as patch:
        patch.setattr(trio.lowlevel, "start_thread_soon", refuse_with(RuntimeError("can't start new thread")))
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]


async def all_idle(pool: Pool) -> None:
    """Wait until every connection is idle: the pool may still open some for calls that another one has served."""

    async def are_idle() -> bool:
        statistics = pool.statistics()
        return statistics.idle == statistics.total

    await eventually(are_idle)


def refuse_with(error: Exception) -> Callable[..., NoReturn]:
    """Return a function that only raises this error."""

    def refuse(*_: object) -> NoReturn:
        raise error

    return refuse
