"""Counters in a table: something that use cases of tests can read and change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.events.events import EventType
from tests.meeting import Meeting
from tests.postgres import CONNECTIONS_MAX
from tests.shares import of_client


def add_counters(connection: Connection) -> None:
    """Add two counters that start at zero."""
    connection.execute("CREATE TABLE counters (name text PRIMARY KEY, value integer NOT NULL)")
    connection.execute("INSERT INTO counters VALUES ('left', 0), ('right', 0)")


def sql(uow: Any, statement: str, *parameters: object) -> list[Any]:
    """Run a statement in a use case."""
    return uow._transaction.connection.execute(statement, parameters).fetchall()


def count(uow: Any, name: str = "left") -> None:
    """Increase a counter in a use case."""
    sql(uow, "UPDATE counters SET value = value + 1 WHERE name = %s", name)


def value(connection: Connection, name: str = "left") -> int:
    """Read the committed value of a counter."""
    row = connection.execute("SELECT value FROM counters WHERE name = %s", (name,)).fetchone()
    assert row is not None, "there is no such counter"
    return row[0]


def publish(uow: Any) -> None:
    """Publish an event in a use case."""
    uow.publish(EventType.USER_LOGOUT)


async def on_every_connection(database: PostgresDatabase, use_case: Callable[[Any], object]) -> None:
    """Run a use case on every connection that the pool may have."""
    all_connected = Meeting(CONNECTIONS_MAX)

    def run(uow: Any) -> None:
        all_connected.wait()
        use_case(uow)

    async with trio.open_nursery() as nursery:
        for number in range(CONNECTIONS_MAX):
            nursery.start_soon(of_client(database, number).read, run)
