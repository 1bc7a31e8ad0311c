"""A server that takes no writes any more, as after a failover: refused like one that is away, until it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.pool import Pool
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import migrations
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
from tests.doorbells import RecordedDoorbells
from tests.postgres import data_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from adapters.postgres.transaction import Tools


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


def set_read_only(server: Server, value: str) -> None:
    """Set whether the server takes writes, in its open connections too, and wait until it has heard."""
    url = make_conninfo(server.url, user=SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")
        while connection.execute("SELECT current_setting('default_transaction_read_only')").fetchone() != (value,):
            pass


async def test_calls_to_a_read_only_server_are_refused_quickly_until_it_takes_writes_again(
    server: Server, database: PostgresDatabase
) -> None:
    async with load_on(database) as load:
        await trio.to_thread.run_sync(set_read_only, server, "on")
        await refusals(load)
        with pytest.raises(ServiceUnavailable):
            await database.read(health_figures.probe)
        await trio.to_thread.run_sync(set_read_only, server, "off")
        await assert_full_service_returns(load)

    assert_refusals_were_quick(load)
    assert_nothing_confirmed_was_lost(load, server)
