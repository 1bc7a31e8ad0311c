"""Making a backup: `pg_dump` writes the database as one snapshot sees it, while everything else goes on.

The manifest is read from the same snapshot. No migration runs meanwhile: a backup would wait for the locks of its
tables, or keep it from getting them.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, LiteralString, TypeAlias

import psycopg
from psycopg.sql import SQL, Identifier

from adapters.crypto.vault import MARK_BYTES, SEALED_BYTES_MIN, key_id_of
from adapters.postgres.backup import runs
from adapters.postgres.backup.files import BLOCK_BYTES, new_backup
from adapters.postgres.backup.programs import dump_program, environment_and_address
from adapters.postgres.schema import distribution, migrations
from adapters.postgres.schema.rewrap import SEALED_COLUMNS, SealedColumn
from core.lazy_dataclasses import dataclass
from core.platform.backups import BackupError, Manifest, RecoveryRun

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import RawConnection

    # The table that is being written, the bytes that were written, and the part of the rows, from 0 to 1.
    ShowDump: TypeAlias = Callable[[str, int, float], None]

APPLICATION_NAME: Final = "gatehouse backup"
SCHEMA: Final = "public"
MAJOR: Final = 10_000
ERROR_LINES_MAX: Final = 5
END_SECONDS_MAX: Final = 30.0
_TABLE: Final = re.compile(r'dumping contents of table "(?P<schema>[^"]+)\.(?P<table>[^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBackup:
    """The written backup: its bytes, its manifest, and why its time is not recorded, or None if it is."""

    size_bytes: int
    manifest: Manifest
    unrecorded: str | None


def back_up(
    url: str,
    path: Path,
    *,
    programs: Path | None,
    version: str,
    now: datetime,
    report: Callable[[str], None],
    show: ShowDump,
) -> WrittenBackup:
    """Write a backup of the database to a new file; raise `BackupError`, and leave nothing, when that fails.

    `programs` is the only folder to take `pg_dump` from, if it is given.
    """
    with (
        migrations.connected(url, name=APPLICATION_NAME) as connection,
        refused_as_backup_error(lambda error: f"The database could not be backed up: {str(error).splitlines()[0]}."),
        migrations.excluding_replicas(connection, report),
    ):
        applied = migrations.plan(connection).applied
        if not applied:
            raise BackupError("This database has no tables of Gatehouse yet, so there is nothing to back up.")
        if distribution.lie_elsewhere(connection):
            raise BackupError(
                "The logs of this database lie on the workers of a cluster (citus), and a backup of the coordinator"
                " would lack them. Back up every node with pgBackRest, and name a moment that all can be restored to:"
                " SELECT citus_create_restore_point('…'). ops/docs/cluster.md says how, and how to restore."
            )
        major = connection.info.server_version // MAJOR
        program = dump_program(major, programs)
        with new_backup(path, now) as writer, _snapshot(connection) as snapshot:
            manifest = Manifest(
                product_version=version,
                schema_version=applied[-1].version,
                postgres_major=major,
                created_at=now,
                master_keys=tuple(_master_keys(connection)),
            )
            sizes = _sizes(connection)
            with closing(_dumped(program, url, snapshot, _Shares(sizes), show)) as dump:
                size = writer.write(manifest, dump)
        # Behind the block, where the file has its name.
        unrecorded = runs.record(connection, RecoveryRun.BACKUP, at=now)
    return WrittenBackup(size_bytes=size, manifest=manifest, unrecorded=unrecorded)


def holds(connection: RawConnection, table: str, column: str) -> bool:
    """Return whether a schema, which may be an older one, has this column."""
    return bool(
        connection.execute(
            """
            SELECT FROM pg_attribute
            WHERE  attrelid = to_regclass(%s) AND attname = %s AND NOT attisdropped
            """,
            (table, column),
        ).rowcount
    )


def stop_behind(error: BaseException | None) -> BaseException | None:
    """Return the stop that came in the middle of a statement, so that ending the transaction failed as well."""
    while error is not None and not isinstance(error, KeyboardInterrupt | SystemExit):
        error = error.__context__
    return error


@contextmanager
def refused_as_backup_error(described: Callable[[psycopg.Error], str]) -> Generator[None]:
    """Raise what PostgreSQL refuses as a `BackupError` that is described so; a stop stays what it is."""
    try:
        yield
    except psycopg.Error as error:
        if (stop := stop_behind(error)) is not None:
            raise stop from None
        raise BackupError(described(error)) from error


@contextmanager
def _snapshot(connection: RawConnection) -> Generator[str]:
    """Yield a snapshot that other connections may take, for as long as the block runs."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # It is idle while pg_dump works, whatever limits the role has.
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute("SET LOCAL statement_timeout = 0")
        yield _value(connection, "SELECT pg_export_snapshot()")


def _master_keys(connection: RawConnection) -> list[str]:
    """Return the ids of all keys that a value is sealed with."""
    return sorted({key for column in SEALED_COLUMNS for key in _keys_of(connection, column)})


def _keys_of(connection: RawConnection, column: SealedColumn) -> Iterator[str]:
    if not holds(connection, column.table, column.column):
        return
    # A value that is too short was never sealed, and no key would open it.
    statement = SQL(
        "SELECT DISTINCT substring({value} FROM 1 FOR {mark}) FROM {table} WHERE length({value}) >= {shortest}"
    ).format(
        value=Identifier(column.column),
        table=Identifier(column.table),
        mark=MARK_BYTES,
        shortest=SEALED_BYTES_MIN,
    )
    for (mark,) in connection.execute(statement):
        yield key_id_of(mark)


def _sizes(connection: RawConnection) -> dict[str, int]:
    return dict(
        connection.execute(
            """
            SELECT relname, pg_table_size(oid)
            FROM   pg_class
            WHERE  relkind = 'r' AND relnamespace = 'public'::regnamespace
            """
        ).fetchall()
    )


def _value(connection: RawConnection, statement: LiteralString) -> Any:
    row = connection.execute(statement).fetchone()
    assert row is not None, "the statement returns one row"
    return row[0]


@dataclass
class _Shares:
    """How far pg_dump is, by the tables that it has written."""

    sizes: dict[str, int]
    table: str = ""
    done: int = 0
    errors: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Read a line of the progress of pg_dump."""
        match = _TABLE.search(line)
        if match is not None:
            self.done += self.sizes.get(self.table, 0)
            self.table = match["table"]
        elif "error:" in line or self.errors:
            self.errors.append(line.strip())

    @property
    def share(self) -> float:
        """The part of the rows that is written, from 0 to 1."""
        return self.done / max(1, sum(self.sizes.values()))


def _dumped(program: Path, url: str, snapshot: str, shares: _Shares, show: ShowDump) -> Generator[bytes]:
    """Run `pg_dump` and yield what it writes; raise `BackupError` when it fails."""
    environment, address = environment_and_address(url)
    process = subprocess.Popen(
        [
            program,
            "--format=custom",
            # Hardly larger than with the default, in a third of its time.
            "--compress=1",
            "--no-owner",
            "--no-privileges",
            # What is ours; extensions and other schemas belong to the administrator of the database.
            f"--schema={SCHEMA}",
            "--verbose",
            f"--snapshot={snapshot}",
            f"--dbname={address}",
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None, "the output is a pipe"
    assert process.stderr is not None, "the errors are a pipe"
    errors = process.stderr

    def listen() -> None:
        for line in errors:
            shares.read(line.decode(errors="replace"))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        done = 0
        while block := process.stdout.read(BLOCK_BYTES):
            done += len(block)
            yield block
            show(shares.table, done, shares.share)
        status = process.wait(END_SECONDS_MAX)
        listener.join(END_SECONDS_MAX)
        if status:
            said = " ".join(shares.errors[:ERROR_LINES_MAX]) or f"it ended with status {status}"
            raise BackupError(f"pg_dump could not read the database: {said}. Nothing was left.")
    finally:
        # Also on Ctrl-C, which may not have reached it.
        process.kill()
        process.wait(END_SECONDS_MAX)
        listener.join(END_SECONDS_MAX)
        process.stdout.close()
        errors.close()
