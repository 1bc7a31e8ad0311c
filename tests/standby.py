"""Servers of PostgreSQL that stand in for each other: a primary, and standbys that follow it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.programs import account_for, programs_for
from adapters.postgres.embedded.server import EmbeddedPostgres


class Node:
    """A PostgreSQL of two that stand in for each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgres = EmbeddedPostgres(folder)
        self.cluster = folder / "postgres"
        self.url = self._postgres.start()

    def close(self) -> None:
        """Stop it; a standby is closed before its primary."""
        self._postgres.release()

    @property
    def pid(self) -> int:
        """The process that starts all others."""
        return int((self.cluster / "postmaster.pid").read_text().splitlines()[0])

    def stop_at_once(self) -> None:
        """Stop it as a crash does: it breaks its connections and writes nothing any more."""
        os.kill(self.pid, signal.SIGQUIT)

    def promote(self) -> None:
        """Make it the primary."""
        self._run("pg_ctl", "promote", "--wait", f"--pgdata={self.cluster}")

    def execute(self, statement: LiteralString) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser; return its rows."""
        with psycopg.connect(make_conninfo(self.url, user=SUPERUSER), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description is not None else []

    def copy_to(self, folder: Path) -> Node:
        """Start a standby in another folder, which follows this server."""
        account = account_for(self.cluster)
        (folder / "postgres").mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder / "postgres", account.uid, account.gid)
        source = make_conninfo(self.url, user=SUPERUSER, dbname="")
        self._run(
            "pg_basebackup",
            f"--pgdata={folder / 'postgres'}",
            f"--dbname={source}",
            "--write-recovery-conf",
            "--checkpoint=fast",
            inside=folder / "postgres",
        )
        shutil.copy2(self._folder / "postgres.password", folder)
        return Node(folder)

    def _run(self, program: str, *arguments: str, inside: Path | None = None) -> None:
        log = self._folder / "tools.log"
        programs = programs_for(account_for(self.cluster), self.cluster, *([inside] if inside else []), log=log)
        assert programs.run(program, *arguments), log.read_text()
