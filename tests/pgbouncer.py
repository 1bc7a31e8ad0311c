"""A real PgBouncer in front of a PostgreSQL; tests that use it are skipped where the program is missing.

The one of Debian 12 is too old for transaction mode; `GATEHOUSE_TEST_PGBOUNCER` names a program of 1.21 or later.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.waiting import wait_until

# Debian installs it where only root's path leads.
PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
KEEPING_STATEMENTS = (1, 21)
PORT = 6432
END_SECONDS_MAX = 60.0
SETTINGS = """\
[databases]
gatehouse = host={host} port={port} dbname={dbname} user={user} password={password}

[pgbouncer]
unix_socket_dir = {folder}
listen_port = {listen_port}
auth_type = any
pool_mode = {mode}
default_pool_size = {sessions_max}
ignore_startup_parameters = {ignored}
{more}
"""


def newer_pgbouncer() -> str:
    """Return the program of a PgBouncer that keeps prepared statements; skip the test where there is none."""
    program = os.environ.get("GATEHOUSE_TEST_PGBOUNCER") or PGBOUNCER
    if program is not None:
        written = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
        found = re.search(r"PgBouncer (\d+)\.(\d+)", written)
        assert found is not None, written
        if tuple(map(int, found.groups())) >= KEEPING_STATEMENTS:
            return program
    # Also in CI, whose Debian has none.
    pytest.skip("no PgBouncer from 1.21; name one in GATEHOUSE_TEST_PGBOUNCER")


@contextmanager
def pgbouncer(
    postgres_url: str,
    folder: Path,
    *,
    mode: str,
    ignored: str,
    sessions_max: int,
    program: str | None = PGBOUNCER,
    more: str = "",
) -> Generator[str]:
    """Run PgBouncer with its files in a folder, and yield the address of the database behind it."""
    if program is None:
        # In CI a missing program is an error, so that success means that these tests ran.
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no PgBouncer in the path; apt-get install pgbouncer")
    parameters = conninfo_to_dict(postgres_url)
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        SETTINGS.format_map(
            parameters
            | {
                "folder": folder,
                "listen_port": PORT,
                "mode": mode,
                "ignored": ignored,
                "sessions_max": sessions_max,
                "more": more,
            }
        )
    )
    # PgBouncer refuses to run as root.
    owner = Path(str(parameters["host"])).stat()
    is_root = os.geteuid() == 0
    if is_root:
        for path in (folder, settings):
            os.chown(path, owner.st_uid, owner.st_gid)
    log = folder / "pgbouncer.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, settings],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            user=owner.st_uid if is_root else None,
            group=owner.st_gid if is_root else None,
            extra_groups=[] if is_root else None,
        )
    try:
        wait_until(lambda: (folder / f".s.PGSQL.{PORT}").exists() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield f"postgresql://gatehouse@/gatehouse?host={quote(str(folder), safe='')}&port={PORT}"
    finally:
        process.kill()
        process.wait(END_SECONDS_MAX)
