"""What was migrated: the table `schema_migrations`, and whether a database and this version fit together.

The table records what was applied, with a checksum, so that the runner detects a changed file, and with the oldest
version that works with it, so that a process of an older Gatehouse knows whether it may serve.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

from psycopg.rows import class_row

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.migration_files import Migration, known
from core.lazy_dataclasses import dataclass

SERVER_VERSION_MIN = 140000


class MigrationError(Exception):
    """The schema cannot be brought up to date; the message says what to do."""


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
                " restore a backup with its `gatehouse restore --replace --without-migrating`."
            )
    return MigrationPlan(applied=applied, pending=tuple(migrations[len(applied) :]), ahead=ahead)


def is_current(connection: RawConnection, migrations: Sequence[Migration] | None = None) -> bool:
    """Return whether nothing is left to migrate; raise `MigrationError` when database and version do not fit."""
    return not plan(connection, migrations).pending


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


def make_history(connection: RawConnection) -> None:
    """Make the table, or what an earlier Gatehouse made it without."""
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


def record(connection: RawConnection, migration: Migration, started: float) -> None:
    """Record that a migration was applied, and how long that took since it started."""
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
