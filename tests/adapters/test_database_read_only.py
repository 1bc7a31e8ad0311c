"""A server that takes no writes any more, as after a failover: refused like one that is away, until it does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
import structlog
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.pool import Pool
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import migrations
from adapters.postgres.transaction import Tools
from core.errors import ServiceUnavailable
from core.platform import health_figures
from tests.adapters.outages import (
    CONNECTIONS_MAX,
    Server,
    assert_full_service_returns,
    assert_nothing_confirmed_was_lost,
    assert_refusals_were_quick,
    load_on,
    refusals,
)
from tests.mailboxes import RecordedMailboxes
from tests.postgres import data_folder
from tests.stopwatch import Stopwatch
from tests.waiting import eventually

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


def set_read_only(server: Server, value: str) -> None:
    """Set whether the server takes writes, in its open connections too; each hears it a moment later."""
    url = make_conninfo(server.url, user=SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")


@asynccontextmanager
async def read_only(server: Server, database: PostgresDatabase) -> AsyncGenerator[None]:
    """Let the server take no writes; the one connection of the database has heard of it, and of the end of it."""
    await trio.to_thread.run_sync(set_read_only, server, "on")
    try:
        await eventually(lambda: database.read(is_read_only))
        yield
    finally:
        await trio.to_thread.run_sync(set_read_only, server, "off")
        await eventually(lambda: database.read(is_writable))


def is_read_only(uow: Any) -> bool:
    rows = uow._transaction.connection.execute("SELECT current_setting('default_transaction_read_only')").fetchall()
    return rows == [("on",)]


def is_writable(uow: Any) -> bool:
    return not is_read_only(uow)


async def test_calls_to_a_read_only_server_are_refused_quickly_until_it_takes_writes_again(
    server: Server, database: PostgresDatabase, stopwatch: Stopwatch
) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(set_read_only, server, "on")
        await refusals(load)
        with pytest.raises(ServiceUnavailable):
            await database.read(health_figures.probe)
        await trio.to_thread.run_sync(set_read_only, server, "off")
        await assert_full_service_returns(load, stopwatch)

    assert_refusals_were_quick(load, stopwatch)
    assert_nothing_confirmed_was_lost(load, server)


def write_with_the_commit(uow: Any) -> None:
    """Defer a statement, which then goes out with the COMMIT."""
    uow._transaction.connection.execute_later("INSERT INTO marks VALUES (%s)", (uow.randomness.new_id(),))


def write_at_once(uow: Any) -> None:
    uow._transaction.connection.execute("INSERT INTO marks VALUES (%s)", (uow.randomness.new_id(),))


def lock_rows(uow: Any) -> None:
    uow._transaction.connection.execute("SELECT id FROM marks FOR UPDATE").fetchall()


def write_in_a_savepoint(uow: Any) -> None:
    with uow._transaction.connection.transaction():
        write_at_once(uow)


@pytest.mark.parametrize("use_case", [write_with_the_commit, write_at_once, lock_rows, write_in_a_savepoint])
@pytest.mark.parametrize("is_in_transaction", [True, False])
async def test_whatever_statement_meets_a_read_only_server_the_call_is_refused_as_in_an_outage(
    server: Server, database: PostgresDatabase, use_case: Callable[[Any], None], is_in_transaction: bool
) -> None:
    run = database.transact if is_in_transaction else database.step
    await run(use_case)

    async with read_only(server, database):
        with structlog.testing.capture_logs() as lines, pytest.raises(ServiceUnavailable):
            await run(use_case)

    assert [line for line in lines if line["event"] == "database.failed"] == []
    await run(use_case)
