"""A PostgreSQL for the tests: one cluster for the whole run, and an empty database for each test that needs one.

Making a database takes ten times as long as emptying one, so a test gets the emptied database of the previous test,
provided that its definition and size are as at the beginning.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import LiteralString

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
from tests.definition_watch import watch_definition
from tests.memory import memory_folder
from tests.signing_keys import insert_first_keys
from tests.spare_database import SpareDatabase

# PostgreSQL checks ten times a second whether a database that it drops is free; we check more often, up to this limit.
LEAVING_SECONDS_MAX = 0.1
LEAVING_POLL_SECONDS = 0.001
CONNECTIONS_MAX = 4
# After so many new databases that are not as at the beginning, there is a defect in what empties them.
NEW_MAX = 3
_MAKERS = count(1)
# ANALYZE reads 300 rows for each unit of its target, and of a larger table others each time.
ROWS_OF_PLANS_MAX = 120_000
STATISTICS_TARGET = ROWS_OF_PLANS_MAX // 300
TOO_LARGE_FOR_PLANS = """
    SELECT   t.oid::regclass::text, sum(c.reltuples)
    FROM     pg_class AS t
    LEFT     JOIN LATERAL pg_partition_tree(t.oid) AS part ON true
    JOIN     pg_class AS c ON c.oid = coalesce(part.relid, t.oid)
    WHERE    t.relkind IN ('r', 'p') AND NOT t.relispartition AND c.relkind = 'r'
    GROUP BY t.oid
    HAVING   sum(c.reltuples) > 300 * (
                 SELECT greatest(max(attstattarget), current_setting('default_statistics_target')::integer)
                 FROM   pg_attribute
                 WHERE  attrelid = t.oid
             )
"""
# Functions of these names, which shadow PostgreSQL's own, and return the same in each database.
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
        # Several test runs may share a server that the environment names, and a run may have several makers.
        self._prefix = f"gatehouse_test_{os.getpid()}_{next(_MAKERS)}"
        self._template = f"{self._prefix}_template"
        self._has_template = False
        self._numbers = count(1)
        self._spare: SpareDatabase | None = None
        self._pool: Pool | None = None
        self._pool_url: str | None = None
        self._connections: dict[str, RawConnection] = {}

    @contextmanager
    def migrated(self, *, has_signing_keys: bool = False) -> Generator[str]:
        """Yield the URL of a database with the current schema and without data, or with the first signing keys."""
        spare, self._spare = self._spare or self._new_spare(), None
        new = 0
        while not spare.is_prepared(has_signing_keys=has_signing_keys):
            # It has grown, or another connection holds it for longer than we wait.
            self._retire(spare)
            assert new < NEW_MAX, f"{new} new databases, one after the other, cannot be emptied"
            spare, new = self._new_spare(), new + 1
        try:
            yield spare.url
        finally:
            if self._spare is None and spare.emptied():
                self._spare = spare
            else:
                self._retire(spare)

    @contextmanager
    def untouched(self) -> Generator[str]:
        """Yield the URL of a migrated database that no test has used, with the statistics of a new one."""
        with self.migrated() as _, self._fresh(self._template) as url:
            yield url

    @contextmanager
    def for_plans(self, *, has_signing_keys: bool = False) -> Generator[str]:
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
                if has_signing_keys:
                    insert_first_keys(connection)
            yield url
            with closing(psycopg.connect(url)) as connection:
                large = connection.execute(TOO_LARGE_FOR_PLANS).fetchall()
                assert not large, (
                    f"the statistics of {large} are others in each run: insert fewer rows, or raise a target"
                )

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

    def _retire(self, spare: SpareDatabase) -> None:
        self._disconnect(spare.url)
        spare.close()
        self._drop(spare.name)

    def _new_spare(self) -> SpareDatabase:
        if not self._has_template:
            self._make_template(self._template)
            self._has_template = True
        name = self._name()
        return SpareDatabase(name, self._create(name, self._template))

    def _make_template(self, name: str) -> None:
        with migrations.connected(self._create(name, "template0")) as connection:
            migrations.migrate(connection, lambda _: None)
        watch_definition(make_conninfo(self._server_url, dbname=name))

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
