"""Backing up and restoring in tests: with the programs that are found, without showing anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from adapters.crypto.vault import Vault
from adapters.postgres.backup.after_restore import AfterRestore, Done
from adapters.postgres.backup.dumping import back_up
from adapters.postgres.backup.files import opened_backup
from adapters.postgres.backup.restoring import RestoreOptions, restore
from core.platform.backups import Manifest

NOW = datetime(2026, 11, 23, 2, 15, tzinfo=UTC)


def backed_up(url: str, path: Path, *, report: Callable[[str], None] = lambda _line: None) -> Manifest:
    """Write a backup, and return what it says of itself."""
    written = back_up(
        url,
        path,
        programs=None,
        version="0.2.0",
        now=NOW,
        report=report,
        show=lambda _table, _done, _share: None,
    )
    assert written.size_bytes == path.stat().st_size
    return written.manifest


def restored(
    url: str,
    path: Path,
    *,
    replace: bool = False,
    ends_sessions: bool = False,
    drops_with: Vault | None = None,
    now: datetime = NOW,
    report: Callable[[str], None] = lambda _line: None,
) -> Done:
    """Restore a backup, and return what followed."""
    after = AfterRestore(now=now, ends_sessions=ends_sessions, drops_unreadable_with=drops_with)
    options = RestoreOptions(replace=replace, programs=None, after=after)
    with opened_backup(path, lambda _done, _total: None) as backup:
        return restore(url, backup, options, report, lambda _share: None)


def contents(url: str) -> dict[str, tuple[int, str | None]]:
    """Return how many rows each table has, and a fingerprint of them."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        ).fetchall()
        return {
            table: one
            for (table,) in sorted(tables)
            if (
                one := connection.execute(
                    SQL("SELECT count(*), md5(string_agg(t::text, ';' ORDER BY t::text)) FROM {} t").format(
                        Identifier(table)
                    )
                ).fetchone()
            )
        }


def contents_of_backup(url: str) -> dict[str, tuple[int, str | None]]:
    """Return what the first backup of a database has: it is noted in the database once it is there."""
    return contents(url) | {"recovery_runs": (0, None)}
