"""A PostgreSQL for the tests: one cluster for the whole run, and an empty database for each test that needs one.

Making a database takes ten times as long as emptying one, so a test gets the emptied database of the previous test,
provided that its definition and size are as at the beginning.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import ROLE, EmbeddedPostgres
from adapters.postgres.schema import migrations
from tests.costs import count_postgres
from tests.memory import memory_folder

# PostgreSQL checks ten times a second whether a database that it drops is free; we check more often, up to this limit.
LEAVING_SECONDS_MAX = 0.1
LEAVING_POLL_SECONDS = 0.001
# A database whose tables grew by more is replaced: emptying it, and reading past the dead rows, would take longer.
GROWTH_BYTES_MAX = 2 * 2**20
EMPTYING_LOCK_TIMEOUT = "200ms"
# What the server has written until now, to its log; tables cannot grow by more.
WRITTEN = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
CONNECTIONS_MAX = 4
# ANALYZE reads 300 rows for each unit of its target, and of a larger table others each time. No test of plans has more.
ROWS_OF_PLANS_MAX = 60_000
STATISTICS_TARGET = ROWS_OF_PLANS_MAX // 300
# Functions of these names, which come before those of PostgreSQL, and return the same in each database.
DRAWN: tuple[LiteralString, ...] = (
    "CREATE SCHEMA drawn",
    "CREATE SEQUENCE drawn.numbers",
    "CREATE FUNCTION drawn.gen_random_uuid() RETURNS uuid LANGUAGE sql AS "
    "$$ SELECT md5(nextval('drawn.numbers')::text)::uuid $$",
    "CREATE FUNCTION drawn.random() RETURNS double precision LANGUAGE sql AS "
    "$$ SELECT ('x' || left(md5(nextval('drawn.numbers')::text), 8))::bit(32)::bigint / 4294967296.0::float8 $$",
)


@contextmanager
def data_folder() -> Generator[Path]:
    """Yield an empty folder for a cluster, and delete it afterwards."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-tests-", dir=memory_folder()) as folder:
        yield Path(folder)


@contextmanager
def running_postgres() -> Generator[str]:
    """Run an embedded PostgreSQL and yield its URL; it would not survive a power cut, which makes it fast."""
    with data_folder() as folder, EmbeddedPostgres(folder) as url:
        with psycopg.connect(make_conninfo(url, user=SUPERUSER), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET synchronous_commit = off")
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            # A worker of autovacuum would block dropping its database.
            connection.execute("ALTER SYSTEM SET autovacuum = off")
            connection.execute("ALTER SYSTEM SET deadlock_timeout = '20ms'")
            # For emptying a database without triggers and references.
            connection.execute(SQL("GRANT SET ON PARAMETER session_replication_role TO {}").format(Identifier(ROLE)))
            connection.execute("SELECT pg_reload_conf()")
        [postmaster] = folder.rglob("postmaster.pid")
        count_postgres(int(postmaster.read_text().split()[0]))
        yield url


@contextmanager
def connected(url: str, *, options: str | None = None) -> Generator[Connection]:
    """Open another connection to a database."""
    with closing(psycopg.connect(url, autocommit=True, options=options)) as connection:
        yield Connection(connection)


@contextmanager
def lent(pool: Pool, seconds_max: float) -> Generator[Connection]:
    """Take a connection of a pool, and give it back; to be called inside `run_in_greenlet`."""
    pooled = pool.take(time.monotonic() + seconds_max)
    try:
        yield pooled.connection
    finally:
        pool.give_back(pooled)


def driver_of(connection: Connection) -> RawConnection:
    """Return the driver's connection beneath ours."""
    return vars(connection)["_driver"]


class Databases:
    """Makes databases on a server, most of them as copies of one that was migrated once."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._admin = psycopg.connect(server_url, autocommit=True)
        # Several test runs may share a server that the environment names.
        self._prefix = f"gatehouse_test_{os.getpid()}"
        self._template = f"{self._prefix}_template"
        self._has_template = False
        self._numbers = count(1)
        self._spare: _Spare | None = None
        self._pool: Pool | None = None
        self._pool_url: str | None = None
        self._connections: dict[str, RawConnection] = {}

    @contextmanager
    def migrated(self) -> Generator[str]:
        """Yield the URL of a database with the current schema and without data."""
        spare, self._spare = self._spare or self._new_spare(), None
        try:
            yield spare.url
        finally:
            if self._spare is None and spare.emptied():
                self._spare = spare
            else:
                self._retire(spare)

    @contextmanager
    def untouched(self) -> Generator[str]:
        """Yield the URL of a migrated database that no test has used, so that its statistics are those of a new one."""
        with self.migrated() as _, self._fresh(self._template) as url:
            yield url

    @contextmanager
    def for_plans(self) -> Generator[str]:
        """Yield the URL of a database that no test has used, in which rows and statistics are the same in each run.

        A plan depends on ids, on their order in the pages, on the rows that ANALYZE has read, and on what the tests
        before have left in pages and statistics.
        """
        with self.untouched() as url:
            with closing(psycopg.connect(url, autocommit=True)) as connection:
                for statement in DRAWN:
                    connection.execute(statement)
                name = Identifier(connection.info.dbname)
                connection.execute(SQL("ALTER DATABASE {} SET search_path = public, drawn, pg_catalog").format(name))
                connection.execute(
                    SQL("ALTER DATABASE {} SET default_statistics_target = {}").format(name, STATISTICS_TARGET)
                )
            yield url

    @contextmanager
    def empty(self) -> Generator[str]:
        """Yield the URL of a new database without a schema."""
        with self._fresh("template0") as url:
            yield url

    def close(self) -> None:
        """Drop all databases and close the connections."""
        if self._spare is not None:
            self._retire(self._spare)
        if self._has_template:
            self._drop(self._template)
        self._admin.close()

    @contextmanager
    def _fresh(self, template: str) -> Generator[str]:
        name = self._name()
        url = self._create(name, template)
        try:
            yield url
        finally:
            self._disconnect(url)
            self._drop(name)

    def pool(self, url: str) -> Pool:
        """Return a pool of connections to a database; it is reused with the database from test to test."""
        if self._pool is None or self._pool_url != url:
            self.close_pool()
            self._pool_url, self._pool = url, Pool(url, connections_max=CONNECTIONS_MAX)
        return self._pool

    @contextmanager
    def connection(self, url: str) -> Generator[Connection]:
        """Yield a connection to a database in the state of a new one."""
        with self.raw_connection(url) as connection:
            # Ours is new each time, because `DISCARD ALL` drops the prepared statements that it remembers.
            yield Connection(connection)

    @contextmanager
    def raw_connection(self, url: str) -> Generator[RawConnection]:
        """Yield a connection of the driver, which accepts several statements in one text."""
        connection = self._connections.pop(url, None) or psycopg.connect(url, autocommit=True, prepare_threshold=None)
        try:
            yield connection
        finally:
            if connection.info.transaction_status == TransactionStatus.IDLE and url not in self._connections:
                connection.execute("DISCARD ALL")
                self._connections[url] = connection
            else:
                connection.close()

    def close_pool(self) -> None:
        """Close the connections that would be used again by the next test, so that a test has its database alone."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _disconnect(self, url: str) -> None:
        if self._pool_url == url:
            self.close_pool()
        if connection := self._connections.pop(url, None):
            connection.close()

    def _retire(self, spare: _Spare) -> None:
        self._disconnect(spare.url)
        spare.close()
        self._drop(spare.name)

    def _new_spare(self) -> _Spare:
        if not self._has_template:
            self._make_template(self._template)
            self._has_template = True
        name = self._name()
        return _Spare(name, self._create(name, self._template))

    def _make_template(self, name: str) -> None:
        with migrations.connected(self._create(name, "template0")) as connection:
            migrations.migrate(connection, lambda _: None)

    def _name(self) -> str:
        return f"{self._prefix}_{next(self._numbers)}"

    def _create(self, name: str, template: str) -> str:
        self._admin.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))
        return make_conninfo(self._server_url, dbname=name)

    def _drop(self, name: str) -> None:
        deadline = time.monotonic() + LEAVING_SECONDS_MAX
        while self._is_in_use(name) and time.monotonic() < deadline:
            time.sleep(LEAVING_POLL_SECONDS)
        self._admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def _is_in_use(self, name: str) -> bool:
        users = self._admin.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s LIMIT 1", (name,))
        return users.fetchone() is not None


class _Spare:
    """A database that is reused from test to test."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url
        # Nearly every test is followed by `emptied`, so what it executes is planned once: a function in a temporary
        # schema, and statements that are prepared at once.
        self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self._connection.execute(SQL("SET lock_timeout = {}").format(EMPTYING_LOCK_TIMEOUT))
        # No trigger runs and no reference is followed, which takes longer than the rest of the deletion. A server that
        # the environment names may refuse it; there the rows go in an order that the references allow.
        with suppress(psycopg.errors.InsufficientPrivilege):
            self._connection.execute("SET session_replication_role = replica")
        tables = self._connection.execute(
            """
            SELECT   relname
            FROM     pg_class
            WHERE    relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
              AND    relname NOT IN ('tiers', 'event_sequencing', 'schema_migrations')
            ORDER BY oid DESC
            """
        ).fetchall()
        # A referring table is emptied before the one that it refers to; the two at the end have rows that triggers
        # write meanwhile.
        names = [table for (table,) in tables] + ["service_user_changes", "billing_cancellations"]
        self._connection.execute("CREATE TEMPORARY TABLE first_tiers AS TABLE tiers")
        self._connection.execute(
            SQL(
                """
                CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
                    {deletions};
                    IF EXISTS (TABLE tiers EXCEPT TABLE first_tiers)
                        OR EXISTS (TABLE first_tiers EXCEPT TABLE tiers) THEN
                        DELETE FROM tiers;
                        INSERT INTO tiers TABLE first_tiers;
                    END IF;
                END $$
                """
            ).format(deletions=SQL("; ").join(SQL("DELETE FROM {}").format(Identifier(table)) for table in names))
        )
        # Whatever has a later one was changed by a test.
        self._last_transaction = self._value("SELECT pg_current_xact_id()::xid")
        self._definition, self._bytes = self._defined(), self._size()
        self._written = self._value(WRITTEN)

    def emptied(self) -> bool:
        """Delete the rows of a test; return whether the database is then as at the beginning."""
        try:
            if self._defined() != self._definition or self._has_grown():
                return False
            self._connection.execute("SELECT pg_temp.empty_tables()")
        except psycopg.Error:
            # Another connection still uses the database, or the test damaged it.
            return False
        return True

    def close(self) -> None:
        """Close the connection to the database."""
        self._connection.close()

    def _has_grown(self) -> bool:
        """Return whether its tables are much larger; they are asked only when as much was written."""
        if self._value(WRITTEN) < self._written + GROWTH_BYTES_MAX:
            return False
        self._written = self._value(WRITTEN)
        return self._size() > self._bytes + GROWTH_BYTES_MAX

    def _size(self) -> int:
        return self._value("SELECT sum(pg_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r'")

    def _defined(self) -> object:
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
