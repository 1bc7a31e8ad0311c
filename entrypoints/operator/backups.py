"""The commands `gatehouse backup` and `gatehouse restore`, as ops/runbooks/backup.md uses them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import trio

from adapters.postgres.backup import dumping, restoring
from adapters.postgres.backup.after_restore import AfterRestore
from adapters.postgres.backup.files import opened_backup
from adapters.postgres.backup.restoring import RestoreOptions
from core.lazy_dataclasses import dataclass
from core.platform.backups import BackupError, Manifest, RecoveryRun, missing_keys, require_known_schema
from core.secrets import Secret
from entrypoints import clocks, database, exits, main, master_keys, signing_key_pairs
from entrypoints.progress import Progress
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.version import version

Report = Callable[[str], None]


MEGABYTE: Final = 1_000_000
_RUNS: Final = {RecoveryRun.BACKUP: "a backup", RecoveryRun.RESTORE_DRILL: "a restore that was tried"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreFlags:
    """The options of `gatehouse restore`."""

    replace: bool
    end_sessions: bool
    without_master_key: bool
    without_migrating: bool


_NO_FLAGS: Final = RestoreFlags(replace=False, end_sessions=False, without_master_key=False, without_migrating=False)


def back_up(settings: Settings, file: str, *, report: Report) -> None:
    """Write a backup of the database to a new file, while everything goes on."""
    with database.address_of(settings) as address, Progress(sys.stderr) as progress:

        def show(table: str, done: int, share: float) -> None:
            progress.show(done // MEGABYTE, "MB", share=share, context=f"{table}: " if table else "")

        written = dumping.back_up(
            database.session_address(settings, address).reveal(),
            Path(file),
            programs=settings.postgres_programs,
            version=version(),
            now=clocks.now(),
            report=progress.around(report),
            show=show,
        )
    report(f"Backup written to {file}: {written.size_bytes:,} bytes, {_described(written.manifest)}.")
    if written.unrecorded is not None:
        report(f"The database does not keep when it was made, so alerts on old backups miss it: {written.unrecorded}.")
    if written.manifest.schema_version < database.newest_schema():
        report(
            f"The schema {written.manifest.schema_version} belongs to an earlier version. To go back to that version"
            f" after an upgrade, restore this file with `gatehouse restore --replace --without-migrating {file}`."
        )
    if written.manifest.master_keys:
        report(
            f"It contains no keys. Its secrets need the master key {_listed(written.manifest.master_keys)}: keep"
            f" {master_keys.place(settings)} in another place than this file."
        )


def restore(settings: Settings, file: str, flags: RestoreFlags, *, report: Report) -> None:
    """Put a backup into the database, and bring its schema up to date, unless an earlier version is to serve it."""
    with Progress(sys.stderr) as progress:

        def show_check(done: int, total: int) -> None:
            progress.show(done // MEGABYTE, "MB", total=total // MEGABYTE, context="Checking: ")

        with opened_backup(Path(file), show_check) as backup:
            manifest = backup.manifest
            require_known_schema(manifest, newest=database.newest_schema())
            after = _after(settings, manifest, flags)
            report(f"The backup is complete: {_described(manifest)}, made at {manifest.created_at:%Y-%m-%d %H:%M} UTC.")

            def show(share: float) -> None:
                done = int(share * backup.dump_bytes)
                progress.show(
                    done // MEGABYTE, "MB", total=backup.dump_bytes // MEGABYTE, share=share, context="Restoring: "
                )

            with _database_without_server(settings) as (address, is_pooled):
                options = RestoreOptions(
                    replace=flags.replace, programs=settings.postgres_programs, after=after, is_pooled=is_pooled
                )
                done = restoring.restore(address.reveal(), backup, options, progress.around(report), show)
                applied = [] if flags.without_migrating else database.migrate(address, progress.around(report))
    _report_dropped(done.dropped, report)
    if done.sessions_ended is not None:
        report(f"Sessions ended: {done.sessions_ended}. Links and codes that were sent before no longer work.")
    if manifest.schema_version < database.newest_schema() and flags.without_migrating:
        report(
            f"Restored with schema {manifest.schema_version}, and not migrated. Start the version of Gatehouse that had"
            " this schema, which ops/docs/upgrading.md lists; this version starts after `gatehouse migrate`."
        )
        return
    migrated = f" Migrations applied: {len(applied)}." if applied else ""
    report(f"Restored.{migrated} Run `gatehouse doctor`, then start the servers.")


def try_restore(settings: Settings, file: str, flags: RestoreFlags, *, report: Report) -> None:
    """Restore a backup into a database that is made for it and deleted again, and record that this has succeeded."""
    if flags != _NO_FLAGS:
        raise BackupError("--drill tries the backup as it is: it goes with no other option.")
    # Before the minutes that the restore takes.
    with database.address_of(settings) as address:
        database.require_schema(address)
    keys = settings.master_keys or (None if not master_keys.present_ids(settings) else master_keys.kept(settings))
    with tempfile.TemporaryDirectory(prefix="gatehouse-drill-") as folder:
        drill = replace(settings, database_url=None, database_listen_url=None, data_dir=Path(folder), master_keys=keys)
        with exits.ungrouped_errors(), database.address_of(drill) as restored:
            restore(drill, file, flags, report=lambda line: report(line.partition(" Run `gatehouse doctor`")[0]))
            trio.run(_require_readable_keys, drill, restored)
    record(settings, RecoveryRun.RESTORE_DRILL, report=report)


def record(settings: Settings, run: RecoveryRun, *, report: Report) -> None:
    """Keep that a backup was made, or that a restore was tried, by another program or on another machine."""
    now = clocks.now()
    with database.address_of(settings) as address:
        database.require_schema(address)
        problem = database.record_run(database.session_address(settings, address), run, at=now)
    if problem is not None:
        raise BackupError(f"It has succeeded, and the database does not keep when: {problem}.")
    report(f"Recorded: {_RUNS[run]} at {now:%Y-%m-%d %H:%M} UTC.")


async def _require_readable_keys(settings: Settings, address: Secret) -> None:
    async with main.connected(settings, address) as connected:
        await signing_key_pairs.published(connected.installation)


def _after(settings: Settings, manifest: Manifest, flags: RestoreFlags) -> AfterRestore:
    """Return what follows the restore; raise `CannotStart` when a master key is missing that is not given up."""
    missing = missing_keys(manifest, master_keys.present_ids(settings))
    if missing and not flags.without_master_key:
        raise CannotStart(
            f"The backup needs the master key {_listed(missing)}, which {master_keys.place(settings)} does not have."
            " Put that key back. If it is lost, --without-master-key drops what it encrypts; see"
            " ops/runbooks/backup.md. Nothing was changed."
        )
    vault = master_keys.vault(settings) if flags.without_master_key else None
    return AfterRestore(now=clocks.now(), ends_sessions=flags.end_sessions, drops_unreadable_with=vault)


@contextmanager
def _database_without_server(settings: Settings) -> Generator[tuple[Secret, bool]]:
    """Yield the address of the database, from whose data folder nothing serves, and if there is a pooler."""
    if not settings.is_embedded:
        with database.address_of(settings) as address:
            own = database.session_address(settings, address)
            yield own, own.reveal() != address.reveal()
        return
    with database.serving_lock(settings), database.address_of(settings) as address:
        yield address, False


def _report_dropped(dropped: Mapping[str, int], report: Report) -> None:
    for column, count in dropped.items():
        report(f"Dropped, because its master key is lost: {count} of {column}.")
    if dropped:
        report("What each loss means, and who is affected, is in ops/runbooks/backup.md.")


def _described(manifest: Manifest) -> str:
    return (
        f"Gatehouse {manifest.product_version} with schema {manifest.schema_version}, PostgreSQL"
        f" {manifest.postgres_major}"
    )


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys)
