"""Waiting for a place and a connection: limits, refusal, cancellation, and a closed pool."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trio

from adapters.postgres.database import WAIT_SECONDS_MAX, PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.pool import Pool
from core.errors import ServiceUnavailable
from core.platform import health_figures
from ports.mailboxes import WorkKind
from tests.adapters.counters import add_counters, count, publish, sql, value
from tests.mailboxes import RecordedMailboxes
from tests.meeting import wait_for
from tests.postgres import CONNECTIONS_MAX
from tests.shares import of_client
from tests.stopwatch import Stopwatch
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def _counters(connection: Connection) -> None:
    add_counters(connection)


@asynccontextmanager
async def every_place_taken(database: PostgresDatabase) -> AsyncGenerator[None]:
    """Occupy every place and connection until the block ends."""
    door = trio.Event()
    inside: list[Any] = []

    def use_case(uow: Any) -> None:
        inside.append(uow)
        wait_for(door)

    async def is_full() -> bool:
        return len(inside) == CONNECTIONS_MAX

    async with trio.open_nursery() as nursery:
        try:
            for number in range(CONNECTIONS_MAX):
                nursery.start_soon(of_client(database, number).read, use_case)
            await eventually(is_full)
            yield
        finally:
            door.set()


async def test_a_caller_without_a_place_is_refused_within_a_second(
    database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    # As long as a server waits; other tests wait for the slowest machine.
    impatient = replace(database, wait_seconds_max=WAIT_SECONDS_MAX)
    async with every_place_taken(database):
        with stopwatch.within(1.5), pytest.raises(ServiceUnavailable):
            await impatient.read(health_figures.probe)


async def test_waiting_for_a_place_can_be_cancelled(database: PostgresDatabase) -> None:
    async def is_waited_for() -> bool:
        return database.pool.places.statistics().waiting == 1

    async with every_place_taken(database):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(database.read, health_figures.probe)
            await eventually(is_waited_for)
            nursery.cancel_scope.cancel()

        assert nursery.cancel_scope.cancelled_caught
        assert database.pool.places.statistics().waiting == 0


async def test_the_transaction_of_a_cancelled_caller_is_completed(
    database: PostgresDatabase, connection: Connection, mailboxes: RecordedMailboxes
) -> None:
    begun = trio.Event()
    door = trio.Event()

    def use_case(uow: Any) -> str:
        count(uow, "left")
        begun.set()
        wait_for(door)
        count(uow, "right")
        publish(uow)
        return "done"

    async def call(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            task_status.started(scope)
            await database.transact(use_case)

    async with trio.open_nursery() as nursery:
        scope = await nursery.start(call)
        await begun.wait()
        scope.cancel()
        door.set()

    assert (value(connection, "left"), value(connection, "right")) == (1, 1)
    assert mailboxes.told == [WorkKind.EVENTS]


async def test_no_more_use_cases_run_than_there_are_places(database: PostgresDatabase, connection: Connection) -> None:
    running: list[int] = []
    most: list[int] = []

    def use_case(uow: Any) -> None:
        running.append(1)
        most.append(len(running))
        sql(uow, "SELECT pg_sleep(0.002)")
        running.pop()

    async with trio.open_nursery() as nursery:
        for number in range(10 * CONNECTIONS_MAX):
            nursery.start_soon(of_client(database, number).read, use_case)

    backends = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'gatehouse'").fetchall()
    assert max(most) <= CONNECTIONS_MAX
    assert len(backends) <= CONNECTIONS_MAX


async def test_the_pool_counts_its_connections(database: PostgresDatabase) -> None:
    async with every_place_taken(database):
        statistics = database.pool.statistics()

    assert (statistics.total, statistics.idle, statistics.maximum) == (CONNECTIONS_MAX, 0, CONNECTIONS_MAX)


async def test_a_closed_pool_refuses_at_once(database_url: str, database: PostgresDatabase) -> None:
    pool = Pool(database_url, connections_max=1)
    await trio.to_thread.run_sync(pool.close)
    database = replace(database, pool=pool)

    with pytest.raises(ServiceUnavailable):
        await database.transact(health_figures.probe)
