"""The first state of a throw-away database, to which tests return.

A superuser deletes the rows without following references, so it takes as long as a few hundred rows need, however many
tables there are. What is given back is what stood there when `keep` was called: the settings and keys of a start.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Final

import psycopg
from psycopg import sql
from psycopg.errors import DeadlockDetected, LockNotAvailable

# The rows of the first state; no migration knows of this schema.
KEPT: Final = "first_state"
# Whatever may be lost with the machine, a throw-away database need not wait for its disk.
UNSAFE: Final = ("fsync", "synchronous_commit", "full_page_writes")
# Each waits for 0.2 s, and then releases its locks.
ATTEMPTS_MAX: Final = 100
_WAIT_BRIEFLY: Final = "SET LOCAL lock_timeout = '200ms'"

_TABLES: Final = """
    SELECT   c.relname, array_agg(a.attname::text ORDER BY a.attnum)
    FROM     pg_class c
    JOIN     pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE    c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    GROUP BY c.relname
    ORDER BY c.relname
"""


def disable_durability(address: str) -> None:
    """Let the server of a throw-away database not wait for its disk."""
    with psycopg.connect(address, autocommit=True) as connection:
        for name in UNSAFE:
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
        connection.execute("SELECT pg_reload_conf()")


class FreshStates:
    """Returns a database to its first state; `address` connects as a superuser."""

    def __init__(self, address: str) -> None:
        self._connection = psycopg.connect(address, autocommit=True)
        self._columns: dict[str, list[str]] = {}
        self._kept: list[str] = []
        # One restores at a time: they share the connection.
        self._turn = threading.Lock()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def keep(self) -> None:
        """Take the present rows for the first state."""
        connection = self._connection
        self._columns = dict(connection.execute(_TABLES).fetchall())
        with connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(KEPT)))
            self._kept = self._filled()
            for table in self._kept:
                connection.execute(
                    sql.SQL("CREATE TABLE {} AS SELECT {} FROM {}").format(
                        sql.Identifier(KEPT, table), self._list(table), sql.Identifier("public", table)
                    )
                )

    def restore(self) -> None:
        """Return to the first state; transactions that are running end first, and others wait."""
        with self._turn:
            for _ in range(ATTEMPTS_MAX - 1):
                # One that holds what this waits for may wait for what this holds.
                with suppress(LockNotAvailable, DeadlockDetected):
                    self._restore()
                    return
            self._restore()

    def _restore(self) -> None:
        connection = self._connection
        with connection.transaction():
            connection.execute(_WAIT_BRIEFLY)
            connection.execute("SET LOCAL session_replication_role = replica")
            connection.execute(
                sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(
                    sql.SQL(", ").join(sql.Identifier("public", table) for table in self._columns)
                )
            )
            filled = self._filled()
            with connection.pipeline():
                for table in filled:
                    connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier("public", table)))
                for table in self._kept:
                    connection.execute(
                        sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}").format(
                            sql.Identifier("public", table),
                            self._list(table),
                            self._list(table),
                            sql.Identifier(KEPT, table),
                        )
                    )

    def _filled(self) -> list[str]:
        """Return the tables that have rows."""
        questions = [
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
                sql.Literal(table), sql.Identifier("public", table)
            )
            for table in self._columns
        ]
        return [table for (table,) in self._connection.execute(sql.SQL(" UNION ALL ").join(questions)).fetchall()]

    def _list(self, table: str) -> sql.Composed:
        return sql.SQL(", ").join(map(sql.Identifier, self._columns[table]))
