"""The migration runner: it applies numbered SQL files (`migration_files.py`), forward only, and records each.

`migration_history.py` has the record, and compares it with this version. The entrypoints decide when migrations run,
and refuse to start without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import Diagnostic
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver import connect_failures
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.suitability import ServerUnsuitable, ServerUntrusted, explained, reason
from adapters.postgres.driver.timed_connection import ADVISED_SETTINGS, with_settings
from adapters.postgres.schema import distribution
from adapters.postgres.schema.lock_waits import LockWaits, NotGranted, limit_waits, wait_for_users, when_granted
from adapters.postgres.schema.migration_files import Migration, MigrationStatement, known, statements
from adapters.postgres.schema.migration_history import (
    MigrationError,
    MigrationPlan,
    is_current,
    make_history,
    plan,
    record,
)
from core.lazy_dataclasses import dataclass

# What a caller does around each statement, for example to measure it.
Watch: TypeAlias = Callable[[Migration, MigrationStatement], AbstractContextManager[None]]


__all__ = [
    "CONCURRENT_WAITS",
    "TABLE_WAITS",
    "DatabaseUnreachable",
    "LockWaits",
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

CONNECT_SECONDS_MAX = 5
# Every other statement on a table queues behind a migration that waits for it, so each of its tries gives up early.
# A request may meet two tries. It is also less than PostgreSQL takes to look for a deadlock (`lock_order.py`).
TABLE_WAITS = LockWaits(try_seconds=0.25, between_seconds=30, total_seconds=300)
# A CONCURRENTLY statement blocks neither readers nor writers, but waits for every transaction older than itself.
CONCURRENT_WAITS = LockWaits(try_seconds=600, between_seconds=30, total_seconds=600)
# The wait for another replica that migrates is bounded, because that replica may hang.
REPLICA_WAIT_SECONDS_MAX = 600
REPLICA_REPORT_SECONDS = 10
REPLICA_POLL_SECONDS = 0.1
# How often the making of a new schema says how far it is.
MAKING_REPORT_SECONDS = 5
HISTORY = "The record of migrations"


class DatabaseUnreachable(MigrationError):
    """The database cannot be reached, for the moment or at all."""


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
        raise DatabaseUnreachable(connect_failures.advice(error)) from None
    with connection:
        try:
            yield connection
        except psycopg.Error as error:
            raise MigrationError(
                f"The database refused: {_message(error)}. No incomplete migration was recorded."
            ) from error


def migrate(
    connection: RawConnection,
    report: Callable[[str], None],
    migrations: Sequence[Migration] | None = None,
    *,
    watch: Watch | None = None,
    table_waits: LockWaits = TABLE_WAITS,
    concurrent_waits: LockWaits = CONCURRENT_WAITS,
) -> list[Migration]:
    """Apply the pending migrations in order, and return them; each statement runs within `watch`, if that is given.

    Replicas may start together: one migrates, the others wait and find nothing to do. A migration whose tables others
    use is tried again, as long as `table_waits` and `concurrent_waits` say, and `report` is told what holds it up.
    """
    assert connection.autocommit, "the connection must be in autocommit mode, because each migration commits by itself"
    with excluding_replicas(connection, report):
        found = plan(connection, migrations)
        pending = found.pending
        if pending:
            _prepare(connection, report, table_waits)
        if found.applied:
            _upgrade(pending, _Run(connection, report, watch, table_waits, concurrent_waits))
        elif pending:
            _make(pending, _Run(connection, report, watch, table_waits, concurrent_waits))
        _distribute(connection, report, table_waits)
    return list(pending)


def _distribute(connection: RawConnection, report: Callable[[str], None], waits: LockWaits) -> None:
    """Distribute the logs of a cluster that are local; those that an earlier run distributed stay as they are."""
    if not distribution.is_cluster(connection):
        return
    nodes = distribution.workers(connection)
    todo = distribution.undistributed(connection)
    report(
        f"The database is the coordinator of a cluster (citus) with {nodes} nodes that hold shards"
        + (f": distributing {len(todo)} logs." if todo else ": no log has to be distributed.")
    )
    for log in todo:
        started = time.monotonic()
        try:
            attempt = partial(distribution.distribute, connection, log)
            when_granted(connection, attempt, what=f"Distributing {log}", waits=waits, report=report)
        except NotGranted as error:
            raise _given_up(f"Distributing {log}", error, "Nothing of it was moved.") from error
        except psycopg.Error as error:
            raise MigrationError(
                f"{log} could not be distributed, and stays on the coordinator: {_message(error)}. Remove the cause and"
                " run `gatehouse migrate` again."
            ) from error
        report(f"Distributed {log} in {time.monotonic() - started:.2f} s.")


def _upgrade(pending: Sequence[Migration], run: _Run) -> None:
    for done, migration in enumerate(pending):
        run.report(f"Applying {migration}, {done + 1} of {len(pending)}.")
        seconds = run.apply(migration)
        percent = (done + 1) * 100 // len(pending)
        run.report(f"Applied {migration.id} in {seconds:.2f} s: {done + 1} of {len(pending)}, {percent} %.")


def _ignore(_: str) -> None:
    """Take a line of the progress that is not reported."""


def _make(pending: Sequence[Migration], run: _Run) -> None:
    """Apply all migrations to an empty database, of which only the progress is of interest."""
    report, number = run.report, len(pending)
    report(f"Making the schema: migrations 1 to {number}.")
    quiet, started = replace(run, report=_ignore, is_beside_others=False), time.monotonic()
    reported = started
    for done, migration in enumerate(pending, 1):
        quiet.apply(migration)
        if time.monotonic() - reported >= MAKING_REPORT_SECONDS:
            reported = time.monotonic()
            report(f"Made {done} of {number} migrations of the schema, {done * 100 // number} %.")
    report(f"Made the schema in {time.monotonic() - started:.2f} s: {number} of {number}, 100 %.")


def _check_address(url: str) -> None:
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # The error of the driver quotes the address with its password.
        raise MigrationError("GATEHOUSE_DATABASE_URL is not an address that PostgreSQL understands.") from None


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


def _prepare(connection: RawConnection, report: Callable[[str], None], waits: LockWaits) -> None:
    """Make the record of the migrations, as this version needs it."""
    try:
        when_granted(connection, lambda: make_history(connection), what=HISTORY, waits=waits, report=report)
    except NotGranted as error:
        raise _given_up(HISTORY, error, "Nothing was changed.") from error


@dataclass
class _Run:
    """A run of pending migrations over one connection."""

    connection: RawConnection
    report: Callable[[str], None]
    watch: Watch | None
    table_waits: LockWaits
    concurrent_waits: LockWaits
    is_beside_others: bool = True
    """Whether others may use the tables meanwhile."""

    def apply(self, migration: Migration) -> float:
        """Apply a migration, and return how many seconds that took."""

        def pass_on(notice: Diagnostic) -> None:
            # A long migration reports its progress with RAISE NOTICE.
            self.report(f"{migration.id}: {notice.message_primary}")

        started = time.monotonic()
        self.connection.add_notice_handler(pass_on)
        try:
            if migration.is_transactional:
                self._apply_at_once(migration)
            else:
                self._apply_by_statement(migration, started)
        finally:
            self.connection.remove_notice_handler(pass_on)
        return time.monotonic() - started

    def _apply_at_once(self, migration: Migration) -> None:
        try:
            self._when_granted(migration, partial(self._in_transaction, migration), self.table_waits)
        except NotGranted as error:
            raise _given_up(f"Migration {migration.id}", error, "Nothing of it was kept.") from error
        except psycopg.Error as error:
            raise MigrationError(
                f"Migration {migration.id} failed and left nothing behind: {_message(error)}."
            ) from error

    def _in_transaction(self, migration: Migration) -> None:
        # Imported here, because most starts migrate nothing, and it compiles many expressions.
        from adapters.postgres.schema import lock_order  # noqa: PLC0415

        started = time.monotonic()
        with self.connection.transaction():
            # The nodes of a cluster take their locks when the statements come.
            is_cluster = distribution.is_cluster(self.connection)
            is_locked = self.is_beside_others and not is_cluster
            wanted = lock_order.wanted(self.connection, migration) if is_locked else lock_order.NOTHING
            locking = lock_order.statement_of(wanted, seconds_max=self.table_waits.try_seconds)
            todo = statements(migration)
            if self.watch is None and not is_cluster:
                texts = [each.sql for each in todo]
                texts.insert(wanted.before, locking)
                # All is sent at once, so that no lock waits for round trips.
                self.connection.execute(";\n".join(texts).encode())
            else:
                # Citus hands on the text in which a statement came, and its workers take one statement at a time.
                for number, statement in enumerate(todo):
                    if number == wanted.before and locking:
                        self.connection.execute(locking.encode())
                    with self.watch(migration, statement) if self.watch is not None else nullcontext():
                        self.connection.execute(statement.sql.encode())
            record(self.connection, migration, started)

    def _apply_by_statement(self, migration: Migration, started: float) -> None:
        todo = statements(migration)
        done = 0
        try:
            for statement in todo:
                with self.watch(migration, statement) if self.watch is not None else nullcontext():
                    self._execute_repeatably(migration, statement)
                done += 1
                # The last one is told together with the migration.
                if done < len(todo):
                    self.report(f"{migration.id}: {done} of {len(todo)} statements, {done * 100 // len(todo)} %")
            self._when_granted(migration, partial(record, self.connection, migration, started), self.table_waits)
        except NotGranted as error:
            kept = f"{done} of its {len(todo)} statements were kept; it is repeated from its first."
            raise _given_up(f"Migration {migration.id}", error, kept) from error
        except psycopg.Error as error:
            raise MigrationError(
                f"Migration {migration.id} failed after {done} of {len(todo)} statements, which were kept:"
                f" {_message(error)}. Remove the cause and run `gatehouse migrate` again; it repeats this migration"
                " from its first statement."
            ) from error

    def _execute_repeatably(self, migration: Migration, statement: MigrationStatement) -> None:
        """Execute a statement outside a transaction, whatever an interrupted run left of it.

        PostgreSQL creates no index of a log by month concurrently. That of the log takes over those of its partitions,
        and so reads no row.
        """
        creation = statement.index_creation
        partitions = _partitions(self.connection, creation.table) if creation is not None else ()
        if creation is None or not partitions:
            self._execute_one(migration, statement)
            return
        for partition in partitions:
            self._execute_one(migration, creation.of_partition(partition))
        at_once = partial(self.connection.execute, creation.at_once.encode())
        self._when_granted(migration, at_once, self.table_waits)

    def _execute_one(self, migration: Migration, statement: MigrationStatement) -> None:
        if (table := self._table_beside_use(statement)) is not None:
            # In advance: given up in the middle, it leaves an invalid index, which cannot be dropped while others
            # use the table.
            wait_for_users(self.connection, table, what=migration.id, waits=self.concurrent_waits, report=self.report)
        waits = self.concurrent_waits if statement.is_concurrent else self.table_waits
        try:
            self._when_granted(migration, partial(self._execute, statement), waits)
        except NotGranted as error:
            if statement.index is not None:
                self._drop_unfinished(statement.index, error)
            raise

    def _execute(self, statement: MigrationStatement) -> None:
        # Only an interrupted run can have left one: PostgreSQL keeps the runner's lock until a lost runner's last
        # statement has ended, so no index of this name is being built now.
        if statement.index is not None and _is_invalid(self.connection, statement.index):
            _drop_index(self.connection, statement.index)
        self.connection.execute(statement.sql.encode())

    def _table_beside_use(self, statement: MigrationStatement) -> str | None:
        """Return the table whose index a statement makes or drops while others use it; None for another statement."""
        if statement.dropped_index is None:
            return statement.table
        row = self.connection.execute(
            "SELECT indrelid::regclass::text FROM pg_index WHERE indexrelid = to_regclass(%s)",
            (statement.dropped_index,),
        ).fetchone()
        return row[0] if row is not None else None

    def _drop_unfinished(self, index: str, given_up: NotGranted) -> None:
        """Drop what a statement without a transaction has left of an index."""
        limit_waits(self.connection, seconds_max=self.table_waits.try_seconds)
        try:
            if _is_invalid(self.connection, index):
                _drop_index(self.connection, index)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            given_up.add_note(
                f"The index {index} is left unfinished, which no query uses; the next `gatehouse migrate` drops it."
            )

    def _when_granted(self, migration: Migration, attempt: Callable[[], object], waits: LockWaits) -> None:
        when_granted(self.connection, attempt, what=migration.id, waits=waits, report=self.report)


def _given_up(what: str, error: NotGranted, kept: str) -> MigrationError:
    """Return what to say when the time for a migration is over; the notes say what it could not clean up."""
    tries = "1 try" if error.tries == 1 else f"{error.tries} tries"
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    return MigrationError(
        f"{what} did not get the tables that it needs within {error.waits.total_seconds:g} s, in {tries}. {kept}{notes}"
        f" {error.last}. {error.looked.advice}, or choose an hour with less load; then run"
        " `gatehouse migrate` again, which goes on from here."
    )


def _partitions(connection: RawConnection, log: str) -> tuple[str, ...]:
    """List the partitions of a log by month, oldest first; none for another table."""
    row = connection.execute("SELECT to_regclass('log_partitions') IS NOT NULL").fetchone()
    if row != (True,):
        return ()
    names = connection.execute("SELECT name FROM log_partitions WHERE log = %s ORDER BY first_id NULLS FIRST", (log,))
    return tuple(name for (name,) in names)


def _drop_index(connection: RawConnection, index: str) -> None:
    connection.execute(SQL("DROP INDEX CONCURRENTLY {}").format(Identifier(index)))


def _is_invalid(connection: RawConnection, index: str) -> bool:
    return bool(
        connection.execute(
            "SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", (index,)
        ).rowcount
    )


def _message(error: psycopg.Error) -> str:
    # Further lines of the error would quote rows.
    return error.diag.message_primary or reason(error)
