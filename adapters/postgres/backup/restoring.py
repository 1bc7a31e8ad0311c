"""Restoring a backup: one transaction deletes what is there, takes in the backup, and does what follows a restore.

`pg_restore` only turns the dump into statements, which run over one connection. So a restore that fails, or a machine
that stops meanwhile, leaves the database as it was.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import psycopg
from psycopg.errors import LockNotAvailable
from psycopg.sql import SQL, Identifier

from adapters.postgres.backup.dumping import (
    END_SECONDS_MAX,
    ERROR_LINES_MAX,
    SCHEMA,
    holds,
    refused_as_backup_error,
    stop_behind,
)
from adapters.postgres.backup.files import OpenedBackup
from adapters.postgres.backup.programs import restore_program
from adapters.postgres.schema import migrations
from core.lazy_dataclasses import dataclass
from core.platform.backups import BackupError, Manifest

if TYPE_CHECKING:
    from adapters.postgres.backup.after_restore import AfterRestore, Done
    from adapters.postgres.driver.connection import RawConnection

APPLICATION_NAME: Final = "gatehouse restore"
LOCK_WAIT_SECONDS_MAX: Final = 10
LEAVING_SECONDS_MAX: Final = 3.0
LEAVING_REPORT_SECONDS: Final = 0.5
LEAVING_POLL_SECONDS: Final = 0.02
COPY_BYTES: Final = 256 * 1024
_COPY: Final = re.compile(rb"COPY [^;]+ FROM stdin;\n")
_COPY_END: Final = b"\\.\n"
_ENTRY: Final = b"--\n"
# Commands of psql, and a setting that older servers do not know.
_NOT_EXECUTED: Final = (b"\\restrict", b"\\unrestrict", b"SET transaction_timeout")
# Relations that are no part of an extension; tables first, which take their indexes, sequences and triggers along.
_RELATIONS: Final = """
    SELECT   c.oid::regclass::text, c.relkind::text
    FROM     pg_class c
    WHERE    c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
      AND    NOT EXISTS (SELECT FROM pg_depend d
                         WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.oid
"""
_FUNCTIONS: Final = """
    SELECT   p.oid::regprocedure::text
    FROM     pg_proc p
    WHERE    p.pronamespace = 'public'::regnamespace
      AND    NOT EXISTS (SELECT FROM pg_depend d
                         WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
"""
_OTHERS: Final = """
    SELECT DISTINCT application_name
    FROM   pg_stat_activity
    WHERE  datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'gatehouse%'
"""
# The name of the sessions that a pooler keeps, also when the last server has ended; and the lock of the process that
# polls, which is held directly and whenever a server runs (`adapters/postgres/listening.py`).
_POOLED: Final = "gatehouse"
_NOBODY_POLLS: Final = "SELECT pg_try_advisory_lock(hashtext('gatehouse.polling'))"
_KINDS: Final = {"v": SQL("VIEW"), "m": SQL("MATERIALIZED VIEW"), "S": SQL("SEQUENCE"), "f": SQL("FOREIGN TABLE")}
# What each kind is called, and the tables of its rows; an older schema may not have one.
KINDS: Final = (
    ("accounts", ("users",)),
    ("organizations", ("organizations",)),
    ("memberships", ("memberships",)),
    ("services", ("services",)),
    ("sessions", ("sessions",)),
    ("entries of audit logs", ("audit_entries", "platform_audit_entries")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions:
    """What a restore may do: `programs` is the only folder to take `pg_restore` from, if it is given.

    Behind a pooler that shares its sessions, their names do not tell whether a server runs.
    """

    replace: bool
    programs: Path | None
    after: AfterRestore
    is_pooled: bool = False


def restore(
    url: str,
    backup: OpenedBackup,
    options: RestoreOptions,
    report: Callable[[str], None],
    show: Callable[[float], None],
) -> Done:
    """Put the backup into the database, and return what followed; raise `BackupError` and change nothing else.

    `show` is called with the part of the backup that was read, from 0 to 1.
    """
    program = restore_program(backup.manifest.postgres_major, options.programs)
    with (
        migrations.connected(url, name=APPLICATION_NAME) as connection,
        refused_as_backup_error(lambda error: f"{_reason(error)} Nothing was changed."),
        migrations.excluding_replicas(connection, report),
    ):
        _require_alone(connection, report, is_pooled=options.is_pooled)
        with connection.transaction():
            connection.execute("SELECT set_config('statement_timeout', '0', true)")
            connection.execute("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
            connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{LOCK_WAIT_SECONDS_MAX}s",))
            _empty(connection, backup.manifest, report, replace=options.replace)
            with _script(program, backup) as script:
                for part in _parts(script):
                    _take_in(connection, part, script)
                    show(backup.share_read())
            connection.execute("RESET search_path")
            _close_to_others(connection)
            # Its history must be one that this version knows.
            migrations.plan(connection)
            done = options.after.run(connection)
        _analyze(connection, report)
        return done


def _reason(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return (
            f"Another connection has used a table of this database for {LOCK_WAIT_SECONDS_MAX} s. End what"
            " pg_stat_activity shows there."
        )
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return (
            f"The role of this address may not restore: {str(error).splitlines()[0]}. Name the owner of the tables in"
            " GATEHOUSE_DATABASE_URL, as for `gatehouse migrate`."
        )
    return f"The database refused the backup: {str(error).splitlines()[0]}."


def _require_alone(connection: RawConnection, report: Callable[[str], None], *, is_pooled: bool) -> None:
    """Refuse to work beside other sessions of Gatehouse.

    PostgreSQL lists a session for a moment after its program has closed it, or has ended, so they get some time.
    """
    started = time.monotonic()
    has_reported = False
    while others := _others(connection, is_pooled=is_pooled):
        passed = time.monotonic() - started
        if passed >= LEAVING_SECONDS_MAX:
            raise BackupError(
                f"Gatehouse is connected to this database ({', '.join(others)}). Stop all its servers and commands, on"
                " every machine, and try again. Nothing was changed."
            )
        if passed >= LEAVING_REPORT_SECONDS and not has_reported:
            report(
                f"Gatehouse is still connected to this database ({', '.join(others)}). Waiting up to"
                f" {LEAVING_SECONDS_MAX:g} s for the end of that."
            )
            has_reported = True
        time.sleep(LEAVING_POLL_SECONDS)


def _others(connection: RawConnection, *, is_pooled: bool) -> list[str]:
    others = sorted(name for (name,) in connection.execute(_OTHERS))
    if is_pooled and _POOLED in others and connection.execute(_NOBODY_POLLS).fetchone() == (True,):
        # Held until the end, so that a server that starts meanwhile does no background work.
        others.remove(_POOLED)
    return others


def _empty(connection: RawConnection, manifest: Manifest, report: Callable[[str], None], *, replace: bool) -> None:
    """Say what the database loses, and delete everything in it, if that is wanted; refuse it when it is not ours."""
    found = connection.execute(_RELATIONS).fetchall()
    if not found:
        return
    if "schema_migrations" not in {name for name, _ in found}:
        raise BackupError(
            f"The database {connection.info.dbname} contains tables that are not those of Gatehouse. Name an empty one."
        )
    for line in _lost(connection, manifest.created_at):
        report(line)
    if not replace:
        raise BackupError(
            f"The database {connection.info.dbname} is not empty. Name an empty one, or let the backup take the place"
            " of everything in it with --replace. Nothing was changed."
        )
    for statement in _deletions(found):
        connection.execute(statement)
    for (function,) in connection.execute(f"{_FUNCTIONS} ORDER BY p.oid".encode()).fetchall():
        connection.execute(f"DROP ROUTINE IF EXISTS {function} CASCADE".encode())


def _close_to_others(connection: RawConnection) -> None:
    """Keep other roles from functions with the rights of their owner: a dump without privileges opens them to all."""
    for (function,) in connection.execute(f"{_FUNCTIONS} AND p.prosecdef".encode()).fetchall():
        connection.execute(f"REVOKE ALL ON ROUTINE {function} FROM PUBLIC".encode())


def _analyze(connection: RawConnection, report: Callable[[str], None]) -> None:
    """Collect statistics, without which the first statements would be planned badly; the backup is in already."""
    try:
        connection.execute("ANALYZE")
    except psycopg.Error as error:
        if (stop := stop_behind(error)) is not None:
            raise stop from None
        report(
            f"The backup is in the database, but ANALYZE failed: {str(error).splitlines()[0]}. Run it again as the"
            " owner of the tables before you start the servers, which would be slow."
        )


def _deletions(found: list[tuple[str, str]]) -> Iterator[bytes]:
    # The names are as PostgreSQL quotes them.
    tables = [name for name, kind in found if kind in {"r", "p"}]
    yield f"DROP TABLE {', '.join(tables)} CASCADE".encode()
    for name, kind in found:
        if kind in _KINDS:
            yield f"DROP {_KINDS[kind].as_string()} IF EXISTS {name} CASCADE".encode()


@contextmanager
def _script(program: Path, backup: OpenedBackup) -> Generator[IO[bytes]]:
    """Yield the statements of the dump; raise `BackupError` when `pg_restore` could not read it to its end."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program, "--format=custom", "--file=-", "--no-owner", "--no-privileges", f"--schema={SCHEMA}"],
            # It reads on from where the descriptor stands.
            stdin=backup.go_to_dump(),
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=COPY_BYTES,
        )
        assert process.stdout is not None, "the output is a pipe"
        try:
            yield process.stdout
            status = process.wait(END_SECONDS_MAX)
            if status:
                errors.seek(0)
                said = " ".join(errors.read().decode(errors="replace").splitlines()[:ERROR_LINES_MAX])
                raise BackupError(f"pg_restore could not read the backup: {said}. Nothing was changed.")
        finally:
            process.kill()
            process.wait(END_SECONDS_MAX)
            process.stdout.close()


def _parts(script: IO[bytes]) -> Iterator[bytes]:
    """Yield the statements of each entry of the dump; a COPY is yielded alone, and then the caller reads its rows."""
    part: list[bytes] = []
    for line in script:
        if line.startswith(_NOT_EXECUTED):
            continue
        if line == _ENTRY and part:
            yield b"".join(part)
            part = []
        if _COPY.fullmatch(line):
            yield b"".join(part)
            yield line
            part = []
        else:
            part.append(line)
    yield b"".join(part)


def _take_in(connection: RawConnection, part: bytes, script: IO[bytes]) -> None:
    if not _COPY.fullmatch(part):
        connection.execute(part)
        return
    with connection.cursor().copy(part) as copy:
        rows: list[bytes] = []
        size = 0
        for line in script:
            if line == _COPY_END:
                break
            rows.append(line)
            size += len(line)
            if size >= COPY_BYTES:
                copy.write(b"".join(rows))
                rows, size = [], 0
        copy.write(b"".join(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How many rows of a kind were made since the moment, and when the newest was; None when there are none."""

    kind: str
    count: int
    newest_at: datetime | None

    def __str__(self) -> str:
        if self.newest_at is None:
            return f"{self.kind}: none"
        return f"{self.kind}: {self.count:,}, the newest of {self.newest_at:%Y-%m-%d %H:%M:%S} UTC"


def _lost(connection: RawConnection, moment: datetime) -> list[str]:
    """Return the lines that say what is lost; the connection is in a transaction, and stays usable in it."""
    lines = [
        f"The backup is of {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC. A restore takes away everything that was"
        " made or changed in this database since then. Made since then were:"
    ]
    try:
        with connection.transaction():
            lines += [f"  {loss}" for loss in since(connection, moment)]
    except psycopg.Error as error:
        if isinstance(error, LockNotAvailable) or connection.closed or stop_behind(error) is not None:
            raise
        # A damaged database, of all, must be replaceable.
        lines.append(f"  what it has could not be counted: {str(error).splitlines()[0]}")
    return lines


def since(connection: RawConnection, moment: datetime) -> list[Loss]:
    """Count the rows of each kind that were made since."""
    return [_loss(connection, kind, tables, moment) for kind, tables in KINDS]


def _loss(connection: RawConnection, kind: str, tables: tuple[str, ...], moment: datetime) -> Loss:
    count, newest_at = 0, None
    for table in tables:
        if not holds(connection, table, "created_at"):
            continue
        statement = SQL("SELECT count(*), max(created_at) AT TIME ZONE 'UTC' FROM {} WHERE created_at > {}")
        row = connection.execute(statement.format(Identifier(table), moment)).fetchone()
        assert row is not None, "an aggregate returns one row"
        count += row[0]
        newest_at = max(filter(None, (newest_at, row[1])), default=None)
    return Loss(kind=kind, count=count, newest_at=newest_at)
