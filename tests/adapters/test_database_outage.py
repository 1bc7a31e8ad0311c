"""Outages: a database that stops, dies, hangs or loses its connections, under a small load of concurrent calls.

Whatever happens, a call gets its answer or `ServiceUnavailable`, and the latter within a second. When the database is
back there is full service within two, without anybody's help.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import psutil
import psycopg
import pytest
import structlog
import trio

from adapters.postgres import database as databases
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.pool import CONNECT_AGAIN_SECONDS, IDLE_SECONDS_MAX, Pool
from adapters.postgres.driver.timed_connection import TRUSTED_SECONDS, TimedConnection
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from core.errors import ServiceUnavailable
from core.platform import health_figures
from tests.doorbells import RecordedDoorbells
from tests.postgres import data_folder
from tests.waiting import BUSY_MACHINE_SECONDS_MAX, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator
    from pathlib import Path

    from adapters.postgres.transaction import Tools

CONNECTIONS_MAX = 4
CALLERS = 8
CALLER_PAUSE_SECONDS = 0.005
# So many answers in a row, several for each caller, are full service.
FULL_SERVICE_CALLS = 5 * CALLERS
REFUSAL_SECONDS_MAX = 1.0 + BUSY_MACHINE_SECONDS_MAX
RECOVERY_SECONDS_MAX = 2.0 + BUSY_MACHINE_SECONDS_MAX


class Server:
    """A PostgreSQL that tests may maltreat."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgres = EmbeddedPostgres(folder)
        self.url = self._postgres.start()

    def start(self) -> None:
        """Start it again."""
        self._postgres.start()

    def stop(self) -> None:
        """Stop it as an operator would."""
        self._postgres.release()

    def kill(self) -> None:
        """End it without warning."""
        os.kill(self._postmaster().pid, signal.SIGKILL)

    @contextmanager
    def frozen(self) -> Generator[None]:
        """Let it neither answer nor close anything."""
        postmaster = self._postmaster()
        # The postmaster first, so that no child is born meanwhile.
        postmaster.suspend()
        with frozen(*postmaster.children()):
            try:
                yield
            finally:
                postmaster.resume()

    @contextmanager
    def frozen_connections(self) -> Generator[None]:
        """Let it say nothing over the connections that there are; new ones are as ever."""
        pids = self.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'gatehouse'")
        with frozen(*(psutil.Process(pid) for (pid,) in pids)):
            yield

    def execute(self, statement: Any) -> list[Any]:
        """Look behind the port."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def _postmaster(self) -> psutil.Process:
        pid, *_ = (self._folder / "postgres" / "postmaster.pid").read_text().splitlines()
        return psutil.Process(int(pid))


@contextmanager
def frozen(*processes: psutil.Process) -> Generator[None]:
    """Let them do nothing."""
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


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
    yield PostgresDatabase(pool=pool, tools=tools, doorbells=RecordedDoorbells())
    await trio.to_thread.run_sync(pool.close)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that has ended."""

    started_at: float
    seconds: float
    is_answered: bool


@dataclass(slots=True)
class Load:
    """Callers that call without end, and what became of their calls."""

    database: PostgresDatabase
    calls: list[Call] = field(default_factory=list)
    confirmed: set[object] = field(default_factory=set)

    async def full_service(self) -> None:
        """Return when call after call is answered."""
        begin = len(self.calls)

        async def is_full() -> bool:
            recent = self.calls[begin:][-FULL_SERVICE_CALLS:]
            return len(recent) == FULL_SERVICE_CALLS and all(call.is_answered for call in recent)

        await eventually(is_full)

    async def call(self, *, is_reading: bool) -> None:
        """Call once; anything but an answer and a refusal is an error that ends the test."""
        started = time.monotonic()
        is_answered = True
        try:
            if is_reading:
                await self.database.read(health_figures.probe)
            else:
                self.confirmed.add(await self.database.transact(leave_mark))
        except ServiceUnavailable:
            is_answered = False
        self.calls.append(Call(started, time.monotonic() - started, is_answered))

    async def call_for_ever(self, *, is_reading: bool) -> None:
        while True:
            await self.call(is_reading=is_reading)
            await trio.sleep(CALLER_PAUSE_SECONDS)

    def refused(self, *, since: float = 0.0) -> list[Call]:
        return [call for call in self.calls if not call.is_answered and call.started_at >= since]


def leave_mark(uow: Any) -> object:
    mark = uow.randomness.new_id()
    uow._transaction.connection.execute("INSERT INTO marks VALUES (%s)", (mark,))
    return mark


@asynccontextmanager
async def load_on(database: PostgresDatabase) -> AsyncGenerator[Load]:
    """Call all the time, from when there is full service until the block ends."""
    load = Load(database)
    async with trio.open_nursery() as nursery:
        for number in range(CALLERS):
            nursery.start_soon(lambda is_reading: load.call_for_ever(is_reading=is_reading), number % 2 == 0)
        await load.full_service()
        yield load
        nursery.cancel_scope.cancel()


def assert_refusals_were_quick(load: Load) -> None:
    slowest = max((call.seconds for call in load.refused()), default=0.0)
    assert slowest < REFUSAL_SECONDS_MAX


def assert_nothing_confirmed_was_lost(load: Load, server: Server) -> None:
    stored = {mark for (mark,) in server.execute("SELECT id FROM marks")}
    assert load.confirmed <= stored


async def assert_full_service_returns(load: Load) -> None:
    returned_at = time.monotonic()
    await load.full_service()
    assert time.monotonic() - returned_at < RECOVERY_SECONDS_MAX


async def refusals(load: Load) -> None:
    """Wait until every caller has been refused."""
    begin = time.monotonic()

    async def is_refused() -> bool:
        return len(load.refused(since=begin)) >= CALLERS

    await eventually(is_refused)


async def test_a_database_that_is_stopped_is_refused_quickly_and_used_again_when_it_is_back(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(server.stop)
        await refusals(load)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load)

    assert_refusals_were_quick(load)
    assert_nothing_confirmed_was_lost(load, server)


async def test_a_database_that_is_killed_is_refused_quickly_and_used_again_when_it_is_back(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        server.kill()
        await refusals(load)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load)

    assert_refusals_were_quick(load)
    assert_nothing_confirmed_was_lost(load, server)


async def test_a_restart_is_survived(server: Server, database: PostgresDatabase) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(server.stop)
        await trio.to_thread.run_sync(server.start)
        await assert_full_service_returns(load)

    assert_refusals_were_quick(load)
    assert_nothing_confirmed_was_lost(load, server)


async def test_connections_that_are_ended_under_load_cost_at_most_the_calls_that_were_committing(
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


async def test_connections_of_a_database_that_was_restarted_while_nobody_called_are_replaced_unnoticed(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database):
        pass
    await trio.to_thread.run_sync(server.stop)
    await trio.to_thread.run_sync(server.start)

    async with load_on(database) as load:
        pass

    assert load.refused() == []


async def test_a_database_that_hangs_is_refused_quickly_and_used_again_when_it_goes_on(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        with server.frozen():
            frozen_at = time.monotonic()
            await trio.sleep(TRUSTED_SECONDS)
            await refusals(load)
        await assert_full_service_returns(load)

    late = [call for call in load.calls if call.started_at > frozen_at + TRUSTED_SECONDS]
    assert max(call.seconds for call in late) < REFUSAL_SECONDS_MAX
    assert_nothing_confirmed_was_lost(load, server)


async def test_a_connection_that_has_rested_is_asked_whether_it_answers_before_it_is_lent(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(database)
    await load.call(is_reading=True)
    monkeypatch.setattr(timed_connection, "TRUSTED_SECONDS", 0.0)
    # What statements may take longer is not for whoever waits for a connection.
    monkeypatch.setattr(timed_connection, "SPARE_SECONDS", 10.0)

    with server.frozen():
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [True, False, True]
    assert_refusals_were_quick(load)


async def test_connections_that_nobody_needed_for_long_are_replaced_without_asking_them(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with load_on(database) as load:
        pass
    monkeypatch.setattr(timed_connection, "TRUSTED_SECONDS", 0.0)
    for connection in database.pool._idle:
        connection.idle_since -= IDLE_SECONDS_MAX

    # As if something on the way had forgotten them: the database is well, and they say nothing.
    with server.frozen_connections():
        await load.call(is_reading=True)

    assert load.refused() == []


async def test_a_call_that_hangs_is_cut_and_its_place_is_free_again(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than anybody waits for a connection, as the real one is, so that there is no second attempt.
    answer_seconds_max = databases.WAIT_SECONDS_MAX + 0.1
    monkeypatch.setattr(TimedConnection, "_answer_seconds_max", answer_seconds_max)
    load = Load(database)

    async def has_ended() -> bool:
        return bool(load.calls) and database.pool.places.borrowed_tokens == 0

    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS_MAX):
            nursery.start_soon(database.read, health_figures.probe)
    with structlog.testing.capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            with server.frozen():
                nursery.start_soon(lambda: load.call(is_reading=False))
                await eventually(has_ended)

    (call,) = load.calls
    assert not call.is_answered
    assert answer_seconds_max <= call.seconds < 2 * answer_seconds_max
    assert [line["event"] for line in lines] == ["database.no_answer"]


async def test_a_database_that_lets_nobody_in_still_serves_the_connections_it_has(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        server._postmaster().suspend()
        try:
            await load.full_service()
        finally:
            server._postmaster().resume()

    assert load.refused() == []


async def test_a_database_that_comes_after_the_service_is_used_as_soon_as_it_is_there(
    server: Server, tools: Tools
) -> None:
    await trio.to_thread.run_sync(server.stop)
    pool = Pool(server.url, connections_max=CONNECTIONS_MAX)
    load = Load(PostgresDatabase(pool=pool, tools=tools, doorbells=RecordedDoorbells()))

    await load.call(is_reading=True)
    await trio.to_thread.run_sync(server.start)
    started = time.monotonic()
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]
    assert time.monotonic() - started < RECOVERY_SECONDS_MAX
    assert_refusals_were_quick(load)
    await trio.to_thread.run_sync(pool.close)


async def test_a_caller_who_still_waits_when_the_database_comes_back_is_served(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "WAIT_SECONDS_MAX", 10.0)
    load = Load(database)
    await trio.to_thread.run_sync(server.stop)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: load.call(is_reading=True))
        await trio.to_thread.run_sync(server.start)
        returned_at = time.monotonic()

    (call,) = load.calls
    assert call.is_answered
    assert time.monotonic() - returned_at < RECOVERY_SECONDS_MAX


async def test_a_database_that_lets_in_fewer_than_we_may_be_is_asked_for_more_now_and_then(
    server: Server, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_at: list[float] = []
    connect = database.pool._connect

    def connect_once() -> TimedConnection:
        asked_at.append(time.monotonic())
        if len(asked_at) > 1:
            raise psycopg.OperationalError("sorry, too many clients already")
        return connect()

    monkeypatch.setattr(database.pool, "_connect", connect_once)
    async with load_on(database) as load:
        for _ in range(5):
            await load.full_service()

    rounds = 1 + (time.monotonic() - asked_at[0]) / CONNECT_AGAIN_SECONDS
    assert len(asked_at) <= rounds * CONNECTIONS_MAX


async def test_the_log_says_why_and_not_where(server: Server, tools: Tools) -> None:
    pool = Pool("postgresql://gatehouse:hunter2@127.0.0.1:1/house", connections_max=1)
    TimedConnection.logged_at = -math.inf

    with structlog.testing.capture_logs() as lines, pytest.raises(ServiceUnavailable):
        await PostgresDatabase(pool=pool, tools=tools, doorbells=RecordedDoorbells()).read(health_figures.probe)

    assert [(line["event"], line["reason"]) for line in lines] == [("database.connect_failed", "Connection refused")]
    await trio.to_thread.run_sync(pool.close)


async def test_a_system_that_opens_no_file_is_a_refusal_and_not_the_end(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(database)
    # What the driver waits with while it connects is a file as well.
    with monkeypatch.context() as patch:
        patch.setattr("psycopg.waiting.DefaultSelector", refuse_with(OSError(errno.EMFILE, "Too many open files")))
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]


async def test_a_system_that_starts_no_thread_is_a_refusal_and_not_the_end(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(database)
    with monkeypatch.context() as patch:
        patch.setattr(trio.lowlevel, "start_thread_soon", refuse_with(RuntimeError("can't start new thread")))
        await load.call(is_reading=True)
    await load.call(is_reading=True)

    assert [call.is_answered for call in load.calls] == [False, True]


def refuse_with(error: Exception) -> Callable[..., NoReturn]:
    """Make something that only ever raises this."""

    def refuse(*_: object) -> NoReturn:
        raise error

    return refuse
