"""What the migrations after the last release lock on a large database, and for how long: `ops/bench --migrations`.

A migration may hold an ACCESS EXCLUSIVE lock on a large table only for a moment, because meanwhile the table is neither
read nor written. Two rules find one that holds it longer:

- the time, sampled from a second connection. It depends on the machine, and counts on the full size only;
- the rows that were read or written under the lock, counted by PostgreSQL. They grow with the table on any machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import Migration, MigrationStatement
from adapters.postgres.schema.statement_locks import Held, Lock, locks
from ops.benchmarks import report
from ops.benchmarks.large_database import SMALL_SHARE, large_database, released_migrations
from ops.benchmarks.progress import Say

HELD_MS_MAX: Final = 100.0
# What PostgreSQL reads in that time, on the full size.
ROWS_UNDER_LOCK_MAX: Final = 50_000
# The tables that grow with the users and with time, whether or not they are seeded.
LARGE: Final = (
    *("users", "sessions", "devices", "identities", "memberships", "service_users", "login_events", "audit_entries"),
    *("events", "webhook_deliveries", "webhook_attempts", "mails", "one_time_tokens", "sign_in_failures"),
    *("invitations", "mfa_events", "scim_log_entries"),
)
# What was in a log before it was kept by month is a part of it.
_HELD: Final = """
    SELECT relname
    FROM   pg_locks
    JOIN   pg_class ON pg_class.oid = relation
    WHERE  pid = %s AND mode = 'AccessExclusiveLock' AND granted AND relkind IN ('r', 'p')
           AND regexp_replace(relname, '_before$', '') = ANY (%s)
"""
SAMPLE_SECONDS: Final = 0.001
MILLISECONDS: Final = 1000.0


@dataclass(slots=True, kw_only=True)
class MigrationFigures:
    """What one migration took, and what it held of the large tables."""

    name: str
    seconds: float = 0.0
    held_ms: dict[str, float] = field(default_factory=dict[str, float])
    rows_under_lock: int = 0
    """The rows of the full size that were read or written while a large table was locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationCheck:
    """The figures of all migrations after the last release."""

    figures: Sequence[MigrationFigures]
    is_full: bool

    @property
    def is_over(self) -> bool:
        """Whether a migration held a large table too long."""
        return any(self.is_too_long(each) for each in self.figures)

    def is_too_long(self, each: MigrationFigures) -> bool:
        """Whether this migration did: by the rows, and on the full size also by the time."""
        is_slow = self.is_full and max(each.held_ms.values(), default=0.0) > HELD_MS_MAX
        return is_slow or each.rows_under_lock > ROWS_UNDER_LOCK_MAX

    def table(self) -> str:
        """Return a line for each migration."""
        heading = ("migration", "s", "ACCESS EXCLUSIVE, ms", "rows under it", "verdict")
        return report.table(
            heading,
            [
                (
                    each.name,
                    f"{each.seconds:.2f}",
                    ", ".join(f"{table} {held:.0f}" for table, held in sorted(each.held_ms.items())) or "none",
                    f"{each.rows_under_lock:,}",
                    report.OVER if self.is_too_long(each) else "ok",
                )
                for each in self.figures
            ],
        )


def check_migrations(*, is_full: bool, say: Say) -> MigrationCheck:
    """Seed a database on the schema of the last release, apply the migrations after it, and measure them."""
    share = 1.0 if is_full else SMALL_SHARE
    with large_database(share, released_migrations(), say) as (_, url):
        return MigrationCheck(figures=measure(url, migrations.known(), share=share, say=say), is_full=is_full)


def measure(url: str, known: Sequence[Migration], *, share: float, say: Say) -> list[MigrationFigures]:
    """Apply the pending ones of these migrations, and measure each; `share` is the size of the database.

    The rows are counted on a copy, statement by statement; the times are taken from the command `gatehouse migrate`.
    """
    with migrations.connected(url) as connection:
        pending = migrations.plan(connection, known).pending
    figures = {migration.id: MigrationFigures(name=str(migration)) for migration in pending}
    with _copied(url) as copy, migrations.connected(copy) as connection:
        counter = _RowCounter(connection, figures, share)
        migrations.migrate(connection, lambda _line: None, known, watch=counter.watch)
    with migrations.connected(url) as connection, _Sampler(url, connection.info.backend_pid).running() as sampler:
        for migration in pending:
            sampler.held_ms = figures[migration.id].held_ms
            migrations.migrate(connection, say, known[: migration.version])
        for row in migrations.plan(connection, known).applied[-len(pending) :]:
            figures[str(row)].seconds = row.seconds
    return list(figures.values())


@contextmanager
def _copied(url: str) -> Generator[str]:
    """Yield the address of a copy of the database, which no other connection may use meanwhile."""
    name = conninfo_to_dict(url)["dbname"]
    copy = f"{name}_copy"
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(copy), Identifier(str(name))))
        yield make_conninfo(url, dbname=copy)
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(copy)))


class _RowCounter:
    """Counts the rows that migrations go through while they lock a large table."""

    def __init__(self, connection: RawConnection, figures: Mapping[str, MigrationFigures], share: float) -> None:
        self._connection = connection
        self._figures = figures
        self._share = share

    @contextmanager
    def watch(self, migration: Migration, statement: MigrationStatement) -> Generator[None]:
        """Count the rows of a statement."""
        if migration.is_transactional:
            before = self._rows()
            yield
            rows = self._rows() - before if self._locks_a_large_table() else 0
        else:
            # Its locks are released already afterwards, so its text says which it took.
            locked = [held.table for held in locks(statement.sql) if _locks_large(held)]
            before = self._reported_rows(locked)
            yield
            rows = self._reported_rows(locked) - before
        self._figures[migration.id].rows_under_lock += round(rows / self._share)

    def _locks_a_large_table(self) -> bool:
        return bool(self._connection.execute(_HELD, (self._connection.info.backend_pid, list(LARGE))).rowcount)

    def _rows(self) -> int:
        """Return how many rows this transaction has read and written until now."""
        row = self._connection.execute(
            """
            SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
                   + coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint
            FROM   pg_stat_xact_user_tables
            """
        ).fetchone()
        assert row is not None, "a sum has one row"
        return row[0]

    def _reported_rows(self, tables: Sequence[str]) -> int:
        """Return how many rows of these tables were read and written until now, by finished transactions."""
        if not tables:
            return 0
        # What this connection has counted reaches the view with the next transaction.
        self._connection.execute("SELECT pg_stat_force_next_flush()")
        row = self._connection.execute(
            """
            SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
                   + coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint
            FROM   pg_stat_user_tables
            WHERE  relname = ANY (%s)
            """,
            (list(tables),),
        ).fetchone()
        assert row is not None, "a sum has one row"
        return row[0]


def _locks_large(held: Held) -> bool:
    return held.lock is Lock.ACCESS_EXCLUSIVE and held.table in LARGE


class _Sampler:
    """Samples from a connection of its own how long the migrating one holds large tables."""

    def __init__(self, url: str, pid: int) -> None:
        self.held_ms = dict[str, float]()
        """Where the longest time for each table is kept."""
        self._url, self._pid = url, pid
        self._is_done = threading.Event()

    @contextmanager
    def running(self) -> Generator[_Sampler]:
        thread = threading.Thread(target=self._sample)
        thread.start()
        try:
            yield self
        finally:
            self._is_done.set()
            thread.join()

    def _sample(self) -> None:
        since = dict[str, float]()
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._is_done.wait(SAMPLE_SECONDS):
                rows = connection.execute(_HELD, (self._pid, list(LARGE))).fetchall()
                now = time.monotonic()
                since = {table: since.get(table, now) for (table,) in rows}
                for table, began_at in since.items():
                    self.held_ms[table] = max(self.held_ms.get(table, 0.0), (now - began_at) * MILLISECONDS)
