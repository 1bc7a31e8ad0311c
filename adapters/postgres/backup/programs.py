"""Finding `pg_dump` and `pg_restore` of the right version, and giving them the address of a database.

The wheel of the embedded PostgreSQL has the programs of its version. For another server, programs of its major version
are searched, because only they are sure to know everything that the server has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.postgres.driver.timed_connection import ADVISED_SETTINGS, with_settings
from adapters.postgres.embedded.programs import EmbeddedPostgresError, programs_folder
from core.platform.backups import BackupError

VERSION_SECONDS_MAX: Final = 30.0
_VERSION: Final = re.compile(r"\(PostgreSQL\) (?P<major>\d+)")
# Where the packages of Debian and of Red Hat have them.
_PACKAGE_FOLDERS: Final = ("/usr/lib/postgresql/{major}/bin", "/usr/pgsql-{major}/bin")


def dump_program(major: int, folder: Path | None) -> Path:
    """Return the `pg_dump` of a major version; raise `BackupError` when there is none.

    A given folder is the only one that is looked into.
    """
    for path in _candidates("pg_dump", folder, major):
        if _major_of(path) == major:
            return path
    raise _missing("pg_dump", f"{major}, the version of the server", major, folder)


def restore_program(major: int, folder: Path | None) -> Path:
    """Return a `pg_restore` that reads dumps of a major version: that one or a newer; raise `BackupError` without."""
    for path in _candidates("pg_restore", folder, major):
        found = _major_of(path)
        if found is not None and found >= major:
            return path
    raise _missing("pg_restore", f"{major} or newer, which reads this backup", major, folder)


def environment_and_address(url: str) -> tuple[dict[str, str], str]:
    """Return the environment with the password, and the address without it, which other users of the machine see."""
    parts = conninfo_to_dict(url) | {"options": with_settings(url, ADVISED_SETTINGS)}
    password = parts.pop("password", None)
    environment = os.environ | ({"PGPASSWORD": str(password)} if password is not None else {})
    return environment, make_conninfo("", **{name: value for name, value in parts.items() if value is not None})


def _candidates(program: str, folder: Path | None, major: int) -> Iterator[Path]:
    if folder is not None:
        yield folder / program
        return
    yield from (Path(pattern.format(major=major)) / program for pattern in _PACKAGE_FOLDERS)
    with suppress(EmbeddedPostgresError):
        # The wheel also has the programs of an older version than the embedded PostgreSQL.
        own = programs_folder()
        yield own / program
        yield from sorted(folder / program for folder in own.parents[1].glob("pginstall*/bin"))
    found = shutil.which(program)
    if found is not None:
        yield Path(found)


def _major_of(program: Path) -> int | None:
    try:
        shown = subprocess.run(
            [program, "--version"], check=False, capture_output=True, text=True, timeout=VERSION_SECONDS_MAX
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(shown.stdout)
    return int(match["major"]) if match else None


def _missing(program: str, version: str, major: int, folder: Path | None) -> BackupError:
    if folder is not None:
        return BackupError(
            f"{folder} has no {program} of PostgreSQL {version}. Name another folder with GATEHOUSE_POSTGRES_PROGRAMS."
        )
    return BackupError(
        f"There is no {program} of PostgreSQL {version}. Install it (Debian: postgresql-client-{major}), or name its"
        " folder with GATEHOUSE_POSTGRES_PROGRAMS."
    )
