"""A PostgreSQL that fails on purpose, and a load of concurrent calls on it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.embedded.server import EmbeddedPostgres
from core.errors import ServiceUnavailable
from core.platform import health_figures
from tests.stopwatch import Stopwatch
from tests.waiting import eventually

CONNECTIONS_MAX = 4
CALLERS = 8
CALLER_PAUSE_SECONDS = 0.005
# Full service is this many answers in a row, several for each caller.
FULL_SERVICE_CALLS = 5 * CALLERS
# A second, two seconds, and what a busy machine may add.
REFUSAL_SECONDS_MAX = 1.5
RECOVERY_SECONDS_MAX = 2.5


class Server:
    """A PostgreSQL that tests may stop, kill and freeze."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgres = EmbeddedPostgres(folder)
        self.url = self._postgres.start()

    def start(self) -> None:
        """Start it again."""
        self._postgres.start()

    def stop(self) -> None:
        """Stop it regularly."""
        self._postgres.release()

    def kill(self) -> None:
        """Kill it."""
        os.kill(self._postmaster().pid, signal.SIGKILL)

    @contextmanager
    def frozen(self) -> Generator[None]:
        """Suspend all its processes: it neither answers nor closes connections."""
        postmaster = self._postmaster()
        # The postmaster first, so that it starts no process meanwhile.
        postmaster.suspend()
        with frozen(*postmaster.children()):
            try:
                yield
            finally:
                postmaster.resume()

    @contextmanager
    def accepting_no_connections(self) -> Generator[None]:
        """Suspend the process that accepts connections; existing connections work."""
        with frozen(self._postmaster()):
            yield

    @contextmanager
    def frozen_connections(self) -> Generator[None]:
        """Suspend the processes of the existing connections; new connections work."""
        pids = self.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'gatehouse'")
        with frozen(*(psutil.Process(pid) for (pid,) in pids)):
            yield

    def execute(self, statement: Any) -> list[Any]:
        """Run a statement over a connection of its own."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def _postmaster(self) -> psutil.Process:
        pid, *_ = (self._folder / "postgres" / "postmaster.pid").read_text().splitlines()
        return psutil.Process(int(pid))


@contextmanager
def frozen(*processes: psutil.Process) -> Generator[None]:
    """Suspend the processes."""
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


@dataclass(frozen=True, slots=True)
class Call:
    """A call that has ended."""

    number: int
    seconds: float
    is_answered: bool


@dataclass(slots=True)
class Load:
    """Callers that call without end, and the results of their calls, which are numbered as they begin."""

    database: PostgresDatabase
    begun: int = 0
    calls: list[Call] = field(default_factory=list)
    confirmed: set[object] = field(default_factory=set)

    async def full_service(self) -> None:
        """Return when the last calls were all answered."""
        begin = len(self.calls)

        async def is_full() -> bool:
            recent = self.calls[begin:][-FULL_SERVICE_CALLS:]
            return len(recent) == FULL_SERVICE_CALLS and all(call.is_answered for call in recent)

        await eventually(is_full)

    async def call(self, *, is_reading: bool) -> None:
        """Call once; any other error than a refusal fails the test."""
        number, started = self.begun, time.monotonic()
        self.begun += 1
        is_answered = True
        try:
            if is_reading:
                await self.database.read(health_figures.probe)
            else:
                self.confirmed.add(await self.database.transact(leave_mark))
        except ServiceUnavailable:
            is_answered = False
        self.calls.append(Call(number, time.monotonic() - started, is_answered))

    async def call_for_ever(self, *, is_reading: bool) -> None:
        while True:
            await self.call(is_reading=is_reading)
            await trio.sleep(CALLER_PAUSE_SECONDS)

    def refused(self, *, since: int = 0) -> list[Call]:
        return [call for call in self.calls if not call.is_answered and call.number >= since]


def leave_mark(uow: Any) -> object:
    mark = uow.randomness.new_id()
    uow._transaction.connection.execute("INSERT INTO marks VALUES (%s)", (mark,))
    return mark


@asynccontextmanager
async def load_on(database: PostgresDatabase) -> AsyncGenerator[Load]:
    """Call repeatedly until the block ends; the block begins at full service."""
    load = Load(database)
    async with trio.open_nursery() as nursery:
        for number in range(CALLERS):
            nursery.start_soon(lambda is_reading: load.call_for_ever(is_reading=is_reading), number % 2 == 0)
        await load.full_service()
        yield load
        nursery.cancel_scope.cancel()


def assert_refusals_were_quick(load: Load, stopwatch: Stopwatch) -> None:
    slowest = max((call.seconds for call in load.refused()), default=0.0)
    stopwatch.assert_within(slowest, REFUSAL_SECONDS_MAX)


def assert_nothing_confirmed_was_lost(load: Load, server: Server) -> None:
    stored = {mark for (mark,) in server.execute("SELECT id FROM marks")}
    assert load.confirmed <= stored


async def assert_full_service_returns(load: Load, stopwatch: Stopwatch) -> None:
    with stopwatch.within(RECOVERY_SECONDS_MAX):
        await load.full_service()


async def refusals(load: Load) -> None:
    """Wait until every caller has been refused."""
    begin = load.begun

    async def is_refused() -> bool:
        return len(load.refused(since=begin)) >= CALLERS

    await eventually(is_refused)
