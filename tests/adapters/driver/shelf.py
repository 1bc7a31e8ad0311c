"""Statements on the table of the fixture `shelf`, and the status of a connection."""

from __future__ import annotations

from psycopg.pq import TransactionStatus

from adapters.postgres.driver.columns import scalar_row
from adapters.postgres.driver.connection import Connection
from tests.postgres import driver_of


def add(connection: Connection, *ids: int) -> None:
    """Add books."""
    for book in ids:
        connection.execute("INSERT INTO shelf VALUES (%s)", (book,))


def add_later(connection: Connection, *ids: int) -> None:
    """Defer adding books."""
    for book in ids:
        connection.execute_later("INSERT INTO shelf VALUES (%s)", (book,))


def books(connection: Connection) -> list[int]:
    """List the books."""
    return connection.cursor(row_factory=scalar_row).execute("SELECT id FROM shelf ORDER BY id").fetchall()


def transaction_status(connection: Connection) -> TransactionStatus:
    """Return whether a connection is idle, in a transaction or in a failed one."""
    return driver_of(connection).info.transaction_status
