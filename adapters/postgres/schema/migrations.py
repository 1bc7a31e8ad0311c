"""The migration runner: it applies numbered SQL files (`migration_files.py`), forward only, and records each.

The table `schema_migrations` records what was applied, with a checksum, so that the runner detects a changed file, and
with the oldest version that works with it, so that a process of an older Gatehouse knows whether it may serve. The
entrypoints decide when migrations run, and refuse to start without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import Diagnostic
from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.suitability import ServerUnsuitable, ServerUntrusted, explained, reason
from adapters.postgres.driver.timed_connection import ADVISED_SETTINGS, with_settings
from adapters.postgres.schema.migration_files import Migration, MigrationStatement, known, statements
from core.lazy_dataclasses import dataclass

# What a caller does around each statement, for example to measure it.
Watch: TypeAlias = Callable[[Migration, MigrationStatement], AbstractContextManager[None]]


__all__ = [
    "AppliedMigration",
    "DatabaseUnreachable",
    "Migration",
    "MigrationError",
    "MigrationPlan",
    "connected",
    "excluding_replicas",
    "is_current",
    "known",
    "migrate",
    "plan",
]

SERVER_VERSION_MIN = 140000
CONNECT_SECONDS_MAX = 5
# Every other statement on a table queues behind a migration that waits for it, so the migration gives up early.
TABLE_LOCK_SECONDS_MAX = 5
# A CONCURRENTLY statement blocks neither readers nor writers, but waits for every transaction older than itself.
CONCURRENT_WAIT_SECONDS_MAX = 600
# The wait for another replica that migrates is bounded, because that replica may hang.
REPLICA_WAIT_SECONDS_MAX = 600
REPLICA_REPORT_SECONDS = 10
REPLICA_POLL_SECONDS = 0.1


class MigrationError(Exception):
    """The schema cannot be brought up to date; the message says what to do."""


class DatabaseUnreachable(MigrationError):
    """The database cannot be reached, for the moment or at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMigration:
    """One step as this database recorded it."""

    version: int
    name: str
    checksum: str
    applied_at: datetime
    seconds: float
    compatible_from: int | None

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"

    def allows(self, version: int) -> bool:
        """Whether a Gatehouse whose last migration is this one works with the schema."""
        return version >= self.version or (self.compatible_from is not None and version >= self.compatible_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPlan:
    """The migrations that were applied to a database, and those that are still to be applied."""

    applied: tuple[AppliedMigration, ...]
    pending: tuple[Migration, ...]
    ahead: tuple[AppliedMigration, ...]
    """Those that this version does not know; each says that this version works with it."""


@contextmanager
def connected(url: str, *, name: str = "gatehouse migrate") -> Generator[RawConnection]:
    """Connect by the name of a command.

    Raise `DatabaseUnreachable` when the database cannot be reached, and `MigrationError` when it cannot be trusted.
    """
    _check_address(url)
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS_MAX,
            application_name=name,
            options=with_settings(url, ADVISED_SETTINGS),
        )
    except psycopg.Error as error:
        problem = explained(error)
        if isinstance(problem, ServerUntrusted):
            # Not one that a start waits for.
            raise MigrationError(f"The database cannot be used: {problem}.") from None
        if isinstance(problem, ServerUnsuitable):
            raise DatabaseUnreachable(f"The database cannot be used: {problem}.") from None
        # The error itself is left out, because it contains addresses.
        raise DatabaseUnreachable(
            f"The database cannot be reached: {reason(error)}. Check that it runs, and GATEHOUSE_DATABASE_URL."
        ) from None
    with connection:
        try:
            yield connection
        except psycopg.Error as error:
            raise MigrationError(
                f"The database refused: {_message(error)}. No incomplete migration was recorded."
            ) from error


def plan(connection: RawConnection, migrations: Sequence[Migration] | None = None) -> MigrationPlan:
    """Compare a database with this version; raise `MigrationError` when they do not fit together."""
    migrations = known() if migrations is None else migrations
    _check_server(connection)
    applied = _applied(connection)
    for row, migration in zip(applied, migrations, strict=False):
        if (row.version, row.name, row.checksum) != (migration.version, migration.name, migration.checksum):
            raise MigrationError(
                f"Migration {migration.id} is not what was applied to this database as {row}. An applied migration"
                f" never changes: restore {migration.id}.sql, and put the change into a new migration."
            )
    ahead = applied[len(migrations) :]
    for row in ahead:
        if not row.allows(len(migrations)):
            raise MigrationError(
                f"The database is ahead of this version: {row} was applied to it on {row.applied_at:%Y-%m-%d}, and this"
                " version does not work with that. Migrations only go forward, so run that newer Gatehouse; to go back,"
                " restore a backup."
            )
    return MigrationPlan(applied=applied, pending=tuple(migrations[len(applied) :]), ahead=ahead)


def is_current(connection: RawConnection, migrations: Sequence[Migration] | None = None) -> bool:
    """Return whether nothing is left to migrate; raise `MigrationError` when database and version do not fit."""
    return not plan(connection, migrations).pending


def migrate(
    connection: RawConnection,
    report: Callable[[str], None],
    migrations: Sequence[Migration] | None = None,
    *,
    watch: Watch | None = None,
) -> list[Migration]:
    """Apply the pending migrations in order, and return them; each statement runs within `watch`, if that is given.

    Replicas may start together: one migrates, the others wait and find nothing to do.
    """
    assert connection.autocommit, "the connection must be in autocommit mode, because each migration commits by itself"
    with excluding_replicas(connection, report):
        pending = plan(connection, migrations).pending
        if pending:
            _prepare(connection)
        for done, migration in enumerate(pending):
            report(f"Applying {migration}, {done + 1} of {len(pending)}.")
            seconds = _apply(connection, migration, report, watch)
            percent = (done + 1) * 100 // len(pending)
            report(f"Applied {migration.id} in {seconds:.2f} s: {done + 1} of {len(pending)}, {percent} %.")
    return list(pending)


def _check_address(url: str) -> None:
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # The error of the driver quotes the address with its password.
        raise MigrationError("GATEHOUSE_DATABASE_URL is not an address that PostgreSQL understands.") from None


def _check_server(connection: RawConnection) -> None:
    info = connection.info
    if info.server_version < SERVER_VERSION_MIN:
        raise MigrationError(
            f"This PostgreSQL has version {info.server_version // 10000}; Gatehouse needs"
            f" {SERVER_VERSION_MIN // 10000} or newer."
        )
    if info.parameter_status("server_encoding") != "UTF8":
        raise MigrationError(
            f"The database {info.dbname} is not encoded in UTF-8, so it could not store every name. Create a new one:"
            " CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )


def _applied(connection: RawConnection) -> tuple[AppliedMigration, ...]:
    if not _has_history(connection):
        return ()
    return tuple(
        connection.cursor(row_factory=class_row(AppliedMigration)).execute(
            """
            SELECT   version, name, checksum, applied_at, seconds,
                     -- A Gatehouse that did not record this yet made the table without the column.
                     (to_jsonb(m) ->> 'compatible_from')::integer AS compatible_from
            FROM     schema_migrations m
            ORDER BY version
            """
        )
    )


def _has_history(connection: RawConnection) -> bool:
    row = connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
    assert row is not None, "a SELECT without FROM returns one row"
    return row[0]


@contextmanager
def excluding_replicas(connection: RawConnection, report: Callable[[str], None]) -> Generator[None]:
    """Keep other replicas from migrating the same database, and from backing it up or restoring it."""
    now = time.monotonic()
    give_up_at, report_at = now + REPLICA_WAIT_SECONDS_MAX, now
    # Polled: a statement that waited for the lock would hold a snapshot, and CREATE INDEX CONCURRENTLY in the process
    # that holds the lock waits for older snapshots, which is a deadlock.
    while not _try_lock(connection):
        if time.monotonic() >= give_up_at:
            raise MigrationError(
                f"Another Gatehouse has been migrating or backing up this database for {REPLICA_WAIT_SECONDS_MAX} s."
                " Check in pg_stat_activity what it does there, and try again when it has ended."
            )
        if time.monotonic() >= report_at:
            report("Another Gatehouse is migrating or backing up this database. Waiting for it.")
            report_at += REPLICA_REPORT_SECONDS
        time.sleep(REPLICA_POLL_SECONDS)
    try:
        yield
    finally:
        # A connection that was lost has lost its lock as well, as soon as PostgreSQL has ended its last statement.
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(hashtext('gatehouse.migrations'))")


def _try_lock(connection: RawConnection) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(hashtext('gatehouse.migrations'))").fetchone()
    assert row is not None, "a SELECT without FROM returns one row"
    return row[0]


def _set_time_limits(connection: RawConnection, *, lock_wait_seconds_max: float) -> None:
    # A migration may run long, whatever limit on statements the role has; only its waits for locks are bounded.
    connection.execute(
        "SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false)",
        (f"{lock_wait_seconds_max * 1000:.0f}ms",),
    )


def _prepare(connection: RawConnection) -> None:
    _set_time_limits(connection, lock_wait_seconds_max=TABLE_LOCK_SECONDS_MAX)
    with connection.transaction():
        if not _has_history(connection):
            connection.execute(
                """
                CREATE TABLE schema_migrations (
                    version    integer PRIMARY KEY,
                    name       text NOT NULL,
                    checksum   text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now(),
                    seconds    double precision NOT NULL
                )
                """
            )
            connection.execute("COMMENT ON TABLE schema_migrations IS 'What was done to this database, and when.'")
        if not _has_compatibility(connection):
            connection.execute("ALTER TABLE schema_migrations ADD COLUMN compatible_from integer")
            connection.execute(
                "COMMENT ON COLUMN schema_migrations.compatible_from IS 'The last migration of the oldest Gatehouse"
                " that works with the schema after this one; null when only those do that have it.'"
            )


def _has_compatibility(connection: RawConnection) -> bool:
    return bool(
        connection.execute(
            "SELECT FROM pg_attribute WHERE attrelid = 'schema_migrations'::regclass AND attname = 'compatible_from'"
        ).rowcount
    )


def _apply(
    connection: RawConnection, migration: Migration, report: Callable[[str], None], watch: Watch | None
) -> float:
    """Apply a migration, and return how many seconds that took."""

    def pass_on(notice: Diagnostic) -> None:
        # A long migration reports its progress with RAISE NOTICE.
        report(f"{migration.id}: {notice.message_primary}")

    started = time.monotonic()
    connection.add_notice_handler(pass_on)
    try:
        if migration.is_transactional:
            _apply_at_once(connection, migration, started, watch)
        else:
            _apply_by_statement(connection, migration, started, report, watch)
    finally:
        connection.remove_notice_handler(pass_on)
    return time.monotonic() - started


def _apply_at_once(connection: RawConnection, migration: Migration, started: float, watch: Watch | None) -> None:
    try:
        _set_time_limits(connection, lock_wait_seconds_max=TABLE_LOCK_SECONDS_MAX)
        with connection.transaction():
            if watch is None:
                # The whole file is sent at once, so that no lock waits for round trips; as bytes, unchanged.
                connection.execute(migration.sql.encode())
            else:
                for statement in statements(migration):
                    with watch(migration, statement):
                        connection.execute(statement.sql.encode())
            _record(connection, migration, started)
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
        raise MigrationError(
            f"Migration {migration.id} waited {TABLE_LOCK_SECONDS_MAX} s for a table that others use, or was in a"
            " deadlock with them, and gave up so"
            " that other requests do not queue behind it. Nothing of it was kept. Try again when the load is lower."
        ) from error
    except psycopg.Error as error:
        raise MigrationError(f"Migration {migration.id} failed and left nothing behind: {_message(error)}.") from error


def _apply_by_statement(
    connection: RawConnection,
    migration: Migration,
    started: float,
    report: Callable[[str], None],
    watch: Watch | None,
) -> None:
    todo = statements(migration)
    done = 0
    try:
        for statement in todo:
            with watch(migration, statement) if watch is not None else nullcontext():
                _execute_repeatably(connection, statement)
            done += 1
            # The last one is told together with the migration.
            if done < len(todo):
                report(f"{migration.id}: {done} of {len(todo)} statements, {done * 100 // len(todo)} %")
        _record(connection, migration, started)
    except psycopg.Error as error:
        raise MigrationError(
            f"Migration {migration.id} failed after {done} of {len(todo)} statements, which were kept:"
            f" {_message(error)}. Remove the cause and run `gatehouse migrate` again; it repeats this migration from"
            " its first statement."
        ) from error


def _execute_repeatably(connection: RawConnection, statement: MigrationStatement) -> None:
    """Execute a statement outside a transaction, whatever an interrupted run left of it."""
    _set_time_limits(
        connection,
        lock_wait_seconds_max=CONCURRENT_WAIT_SECONDS_MAX if statement.is_concurrent else TABLE_LOCK_SECONDS_MAX,
    )
    for text, index in _parts(connection, statement):
        # Only an interrupted run can have left one: PostgreSQL keeps the runner's lock until a lost runner's last
        # statement has ended, so no index of this name is being built now.
        if index is not None and _is_invalid(connection, index):
            connection.execute(SQL("DROP INDEX CONCURRENTLY {}").format(Identifier(index)))
        connection.execute(text.encode())


def _parts(connection: RawConnection, statement: MigrationStatement) -> Iterator[tuple[str, str | None]]:
    """Yield what executes a statement, with the index that it creates: for a log by month, one of each partition first.

    PostgreSQL creates no index of a partitioned table concurrently. That of the log takes over those of the partitions,
    and so reads no row.
    """
    if (creation := statement.index_creation) is not None:
        partitions = (
            connection.execute(
                "SELECT name FROM log_partitions WHERE log = %s ORDER BY first_id NULLS FIRST", (creation.table,)
            ).fetchall()
            if _has_log_partitions(connection)
            else []
        )
        for (partition,) in partitions:
            index = creation.index.replace(creation.table, partition, 1)
            yield creation.of(partition, index), index
        if partitions:
            yield creation.at_once, None
            return
    yield statement.sql, statement.index


def _has_log_partitions(connection: RawConnection) -> bool:
    row = connection.execute("SELECT to_regclass('log_partitions') IS NOT NULL").fetchone()
    return row == (True,)


def _is_invalid(connection: RawConnection, index: str) -> bool:
    return bool(
        connection.execute(
            "SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", (index,)
        ).rowcount
    )


def _record(connection: RawConnection, migration: Migration, started: float) -> None:
    connection.execute(
        """
        INSERT INTO schema_migrations (version, name, checksum, seconds, compatible_from)
        VALUES (%s, %s, %s, %s, %s)
        """,
        (
            migration.version,
            migration.name,
            migration.checksum,
            time.monotonic() - started,
            migration.compatible_from,
        ),
    )


def _message(error: psycopg.Error) -> str:
    # Further lines of the error would quote rows.
    return error.diag.message_primary or reason(error)
