"""A database that goes from test to test, emptied by one statement that PostgreSQL has planned once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from tests.definition_watch import is_watched
from tests.signing_keys import TABLES, insert_first_keys

# A database whose tables grew by more is replaced: emptying it, and reading past the dead rows, would take longer.
GROWTH_BYTES_MAX = 2 * 2**20
EMPTYING_LOCK_TIMEOUT = "200ms"
# Tables whose rows are restored from a copy when a test has changed them.
KEPT = ("tiers", *TABLES.values())
# The prefix of the copies.
FIRST = "first_"
# What has rows that stay as they are, or that a test cannot change without a change of the definition.
LEFT_ALONE = ("event_sequencing", "schema_migrations")
# Triggers write rows of these while the others are emptied.
EMPTIED_AGAIN = ("service_user_changes", "billing_cancellations")
# What the server has written until now, to its log; tables cannot grow by more.
WRITTEN = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"


class SpareDatabase:
    """A database that is reused from test to test."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url
        # Nearly every test is followed by `emptied`, so what it executes is planned once: a function in a temporary
        # schema, and a statement that is prepared at once.
        self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self._connection.execute(SQL("SET lock_timeout = {}").format(EMPTYING_LOCK_TIMEOUT))
        # No trigger runs and no reference is followed, which takes longer than the rest of the deletion. A server that
        # the environment names may refuse it; there the rows go in an order that the references allow.
        with suppress(psycopg.errors.InsufficientPrivilege):
            self._connection.execute("SET session_replication_role = replica")
        for table in KEPT:
            self._copy(table)
        is_noted = is_watched(self._connection)
        self._make_function(is_noted=is_noted)
        # Whatever has a later one was changed by a test.
        self._last_transaction = self._value("SELECT pg_current_xact_id()::xid")
        self._definition = None if is_noted else self._defined()
        self._bytes = self._size()
        self._written = self._value(f"SELECT {WRITTEN}")
        self._has_signing_keys = False

    def is_prepared(self, *, has_signing_keys: bool) -> bool:
        """Store the first signing keys, or delete them, where the next test needs that; return whether all is empty."""
        if has_signing_keys == self._has_signing_keys:
            return True
        for table in TABLES.values():
            # TRUNCATE would change the definition, where that is read.
            self._connection.execute(SQL("DELETE FROM {}").format(_first(table)))
        if has_signing_keys:
            insert_first_keys(self._connection, FIRST)
        self._has_signing_keys = has_signing_keys
        return self.emptied()

    def emptied(self) -> bool:
        """Delete the rows of a test; return whether the database is then as at the beginning."""
        try:
            if self._definition is not None and self._defined() != self._definition:
                return False
            written = self._value("SELECT pg_temp.emptied()")
            return written is not None and not self._has_grown(written)
        except psycopg.Error:
            # Another connection still uses the database, or the test damaged it.
            return False

    def close(self) -> None:
        """Close the connection to the database."""
        self._connection.close()

    def _copy(self, table: str) -> None:
        """Copy the rows of a table into one whose columns have other names, for those who search columns by name."""
        columns = self._connection.execute(SQL("TABLE {} LIMIT 0").format(Identifier(table))).description or ()
        self._connection.execute(
            SQL("CREATE TEMPORARY TABLE {first} ({columns}) AS TABLE {table}").format(
                first=_first(table),
                columns=SQL(", ").join(Identifier(f"column_{number}") for number in range(len(columns))),
                table=Identifier(table),
            )
        )

    def _make_function(self, *, is_noted: bool) -> None:
        """Make the function that empties the database; it returns NULL where its definition was seen to change."""
        self._connection.execute(
            SQL(
                """
                CREATE FUNCTION pg_temp.emptied() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
                    IF {changed} THEN
                        RETURN NULL;
                    END IF;
                    {deletions};
                    {restorations}
                    RETURN {written};
                END $$
                """
            ).format(
                changed=self._changed() if is_noted else SQL("false"),
                deletions=SQL("; ").join(SQL("DELETE FROM {}").format(Identifier(table)) for table in self._tables()),
                restorations=SQL("").join(_restoration(table) for table in KEPT),
                written=SQL(WRITTEN),
            )
        )

    def _changed(self) -> Composable:
        """Return the condition under which a test has changed the definition, noted or in rows that nothing notes."""
        [(migrations, settings, last)] = self._connection.execute(
            """
            SELECT (SELECT count(*) FROM schema_migrations), (SELECT count(*) FROM pg_db_role_setting),
                   pg_current_xact_id()::text
            """
        ).fetchall()
        return SQL(
            """
            EXISTS (SELECT FROM of_tests.definition_changes)
                OR (SELECT count(*) FROM pg_db_role_setting) <> {settings}
                OR (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < age({last}::xid))) FROM schema_migrations)
                    <> ({migrations}::bigint, 0::bigint)
            """
        ).format(settings=settings, last=last, migrations=migrations)

    def _tables(self) -> list[str]:
        """Return the tables that are emptied, a referring one before the one that it refers to."""
        tables = self._connection.execute(
            """
            SELECT   relname
            FROM     pg_class
            WHERE    relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
              AND    relname <> ALL (%s)
            ORDER BY oid DESC
            """,
            ([*KEPT, *LEFT_ALONE],),
        ).fetchall()
        return [table for (table,) in tables] + list(EMPTIED_AGAIN)

    def _has_grown(self, written: int) -> bool:
        """Return whether its tables are much larger; they are asked only when as much was written."""
        if written < self._written + GROWTH_BYTES_MAX:
            return False
        self._written = written
        return self._size() > self._bytes + GROWTH_BYTES_MAX

    def _size(self) -> int:
        return self._value("SELECT sum(pg_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r'")

    def _defined(self) -> object:
        """Return what differs after a change of the definition, for a server on which none is noted."""
        # Every change of a table, a constraint, a trigger or a function writes a new version of one of these rows.
        return self._connection.execute(
            """
            WITH first AS MATERIALIZED (SELECT age(%(last)s::xid) AS age)
            SELECT (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age))
                    FROM pg_class, first WHERE oid >= 16384),
                   (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age))
                    FROM pg_attribute, first WHERE attrelid >= 16384),
                   (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age)) FROM pg_constraint, first),
                   (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age)) FROM pg_trigger, first),
                   (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age))
                    FROM pg_proc, first WHERE oid >= 16384),
                   (SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_'),
                   (SELECT count(*) FROM pg_db_role_setting),
                   (SELECT (count(*), count(*) FILTER (WHERE age(xmin) < first.age)) FROM schema_migrations, first)
            """,
            {"last": self._last_transaction},
        ).fetchone()

    def _value(self, statement: LiteralString) -> Any:
        row = self._connection.execute(statement).fetchone()
        assert row is not None
        return row[0]


def _restoration(table: str) -> Composable:
    """Return the statement that restores the rows of a table from the copy of those that it had at first."""
    return SQL(
        """
        IF EXISTS (TABLE {table} EXCEPT TABLE {first}) OR EXISTS (TABLE {first} EXCEPT TABLE {table}) THEN
            DELETE FROM {table};
            INSERT INTO {table} TABLE {first};
        END IF;
        """
    ).format(table=Identifier(table), first=_first(table))


def _first(table: str) -> Identifier:
    """Return the copy of the rows that a table has at first."""
    return Identifier(f"{FIRST}{table}")
