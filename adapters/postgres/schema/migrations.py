"""Migrations: the schema's history as numbered SQL files, applied forward only and each in one transaction.

The files are in the folder beside this one. What was applied is remembered in `schema_migrations` with a checksum, so
that neither a changed file nor a database of a newer Gatehouse goes unnoticed. When migrations run, and who refuses to
start without them, is for the entrypoints to say.
"""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row

from adapters.postgres.driver.timed_connection import reason

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from datetime import datetime

    from psycopg.errors import Diagnostic

    from adapters.postgres.driver.connection import RawConnection

SERVER_VERSION_MIN = 140000
CONNECT_SECONDS_MAX = 5
# A migration that waits for a table makes everybody queue behind it, so it waits no longer than a caller can bear.
TABLE_LOCK_SECONDS_MAX = 5
# Another replica that migrates is waited for, but not for ever: it may hang.
REPLICA_WAIT_SECONDS_MAX = 600
REPLICA_REPORT_SECONDS = 10

_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")


class MigrationError(Exception):
    """The schema cannot be brought up to date; the message says what to do."""


class DatabaseAway(MigrationError):
    """The database cannot be reached just now, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema, as this version of Gatehouse knows it."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """The fingerprint of what it says, indifferent to line ends and trailing blanks."""
        text = "\n".join(line.rstrip() for line in self.sql.strip().splitlines())
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMigration:
    """One step as this database remembers it."""

    version: int
    name: str
    checksum: str
    applied_at: datetime
    seconds: float

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was done to a database, and what is to be done."""

    applied: tuple[AppliedMigration, ...]
    pending: tuple[Migration, ...]


def known() -> tuple[Migration, ...]:
    """List the migrations of this version, oldest first."""
    files = (
        entry
        for entry in (resources.files("adapters.postgres.schema") / "migrations").iterdir()
        if entry.name.endswith(".sql")
    )
    migrations = [_parsed(file.name, file.read_text(encoding="utf-8")) for file in files]
    migrations.sort(key=lambda migration: migration.version)
    assert [migration.version for migration in migrations] == list(range(1, len(migrations) + 1)), (
        "migrations are numbered from one, without gaps and without twins"
    )
    return tuple(migrations)


@contextmanager
def connected(url: str) -> Generator[RawConnection]:
    """Connect in order to plan or to migrate; raise `DatabaseAway` when the database cannot be reached."""
    _check_address(url)
    try:
        connection = psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_SECONDS_MAX, application_name="gatehouse migrate"
        )
    except psycopg.Error as error:
        # The error itself is left out, because it tells addresses.
        raise DatabaseAway(
            f"The database cannot be reached: {reason(error)}. Check that it runs, and GATEHOUSE_DATABASE_URL."
        ) from None
    with connection:
        try:
            yield connection
        except psycopg.Error as error:
            raise MigrationError(f"The database refused: {_words(error)}. Nothing was half done.") from error


def plan(connection: RawConnection, migrations: Sequence[Migration] | None = None) -> Plan:
    """Compare a database with this version; raise `MigrationError` when they cannot fit together."""
    migrations = known() if migrations is None else migrations
    _check_server(connection)
    applied = _applied(connection)
    for row, migration in zip(applied, migrations, strict=False):
        if (row.version, row.name, row.checksum) != (migration.version, migration.name, migration.checksum):
            raise MigrationError(
                f"Migration {migration} is not what was applied to this database as {row}. An applied migration never"
                f" changes: restore {migration}.sql, and put what is new into a migration of its own."
            )
    if len(applied) > len(migrations):
        raise MigrationError(
            f"The database is ahead of this version: {applied[-1]} was applied to it on"
            f" {applied[-1].applied_at:%Y-%m-%d}. Migrations only go forward, so run that newer Gatehouse."
        )
    return Plan(applied=applied, pending=tuple(migrations[len(applied) :]))


def is_current(connection: RawConnection, migrations: Sequence[Migration] | None = None) -> bool:
    """Say whether nothing is left to migrate; raise `MigrationError` when database and version cannot fit together."""
    return not plan(connection, migrations).pending


def migrate(
    connection: RawConnection, report: Callable[[str], None], migrations: Sequence[Migration] | None = None
) -> list[Migration]:
    """Apply what is pending, each migration in a transaction of its own, and list it.

    Replicas may start together: one migrates, the others wait and find nothing to do.
    """
    assert connection.autocommit, "each migration is a transaction of its own"
    with _alone(connection, report):
        pending = plan(connection, migrations).pending
        if pending:
            _prepare(connection)
        for migration in pending:
            _apply(connection, migration, report)
    return list(pending)


def _parsed(file_name: str, sql: str) -> Migration:
    match = _FILE_NAME.fullmatch(file_name)
    assert match is not None, f"{file_name} is not called NNNN_name.sql"
    return Migration(version=int(match["version"]), name=match["name"], sql=sql)


def _check_address(url: str) -> None:
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # What the driver says quotes the address, and the password in it.
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
            f"The database {info.dbname} is not encoded in UTF-8, so it could not store every name. Make a new one:"
            " CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )


def _applied(connection: RawConnection) -> tuple[AppliedMigration, ...]:
    if not _has_history(connection):
        return ()
    return tuple(
        connection.cursor(row_factory=class_row(AppliedMigration)).execute(
            """
            SELECT   version, name, checksum, applied_at, seconds
            FROM     schema_migrations
            ORDER BY version
            """
        )
    )


def _has_history(connection: RawConnection) -> bool:
    row = connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
    assert row is not None, "a SELECT without FROM has one row"
    return row[0]


@contextmanager
def _alone(connection: RawConnection, report: Callable[[str], None]) -> Generator[None]:
    """Keep other replicas from migrating the same database."""
    _set_time_limits(connection, lock_wait_seconds_max=REPLICA_REPORT_SECONDS)
    give_up_at = time.monotonic() + REPLICA_WAIT_SECONDS_MAX
    while not _try_lock(connection):
        if time.monotonic() >= give_up_at:
            raise MigrationError(
                f"Another Gatehouse has been migrating this database for {REPLICA_WAIT_SECONDS_MAX} s. See in"
                " pg_stat_activity what 'gatehouse migrate' does there, and try again when it has ended."
            )
        report("Another Gatehouse is migrating this database. Waiting for it.")
    try:
        yield
    finally:
        # A connection that was lost has lost its lock as well.
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(hashtext('gatehouse.migrations'))")


def _try_lock(connection: RawConnection) -> bool:
    try:
        connection.execute("SELECT pg_advisory_lock(hashtext('gatehouse.migrations'))")
    except psycopg.errors.LockNotAvailable:
        return False
    return True


def _set_time_limits(connection: RawConnection, *, lock_wait_seconds_max: float) -> None:
    # A migration may work long, whatever the role's own limit on statements is; only its waiting is bounded.
    connection.execute(
        "SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false)",
        (f"{lock_wait_seconds_max * 1000:.0f}ms",),
    )


def _prepare(connection: RawConnection) -> None:
    _set_time_limits(connection, lock_wait_seconds_max=TABLE_LOCK_SECONDS_MAX)
    if _has_history(connection):
        return
    with connection.transaction():
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


def _apply(connection: RawConnection, migration: Migration, report: Callable[[str], None]) -> None:
    def pass_on(notice: Diagnostic) -> None:
        # Long work says how far it is with RAISE NOTICE.
        report(f"{migration}: {notice.message_primary}")

    report(f"Applying {migration}.")
    started = time.monotonic()
    connection.add_notice_handler(pass_on)
    try:
        with connection.transaction():
            # The files are ours; as bytes and without parameters they go out as they are, many statements at once.
            connection.execute(migration.sql.encode())
            connection.execute(
                "INSERT INTO schema_migrations (version, name, checksum, seconds) VALUES (%s, %s, %s, %s)",
                (migration.version, migration.name, migration.checksum, time.monotonic() - started),
            )
    except psycopg.errors.LockNotAvailable as error:
        raise MigrationError(
            f"Migration {migration} waited {TABLE_LOCK_SECONDS_MAX} s for a table that others use, and gave up so that"
            " nobody queues behind it. Nothing of it was kept. Try again when there is less to do."
        ) from error
    except psycopg.Error as error:
        raise MigrationError(f"Migration {migration} failed and left nothing behind: {_words(error)}.") from error
    finally:
        connection.remove_notice_handler(pass_on)
    report(f"Applied {migration} in {time.monotonic() - started:.2f} s.")


def _words(error: psycopg.Error) -> str:
    # Further lines would quote rows.
    return error.diag.message_primary or reason(error)
