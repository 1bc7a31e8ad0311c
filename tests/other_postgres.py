"""A PostgreSQL of Debian as operators run one of their own; tests that use it are skipped where it is missing."""

from __future__ import annotations

import os
import pwd
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg
import pytest

PROGRAM_SECONDS_MAX: Final = 120.0
PORT: Final = 5432


def require(*, is_there: bool, package: str) -> None:
    """Skip the test without a Debian package; in CI a missing one is an error."""
    if not is_there:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(f"apt-get install {package}")


@dataclass
class OtherPostgres:
    """A cluster, run by the account that PostgreSQL's package made, or by ours."""

    programs: Path
    folder: Path
    account: pwd.struct_passwd
    environment: dict[str, str] = field(default_factory=lambda: dict[str, str](os.environ))

    @property
    def data(self) -> Path:
        """The folder of the cluster."""
        return self.folder / "data"

    def url(self, database: str) -> str:
        """Return the address of a database."""
        return f"postgresql://postgres@/{database}?host={self.folder}&port={PORT}"

    def run(self, *command: str | Path) -> str:
        """Run a program as the account of the cluster; return what it printed."""
        is_root = os.geteuid() == 0
        done = subprocess.run(
            command,
            check=False,
            cwd="/",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PROGRAM_SECONDS_MAX,
            user=self.account.pw_uid if is_root else None,
            group=self.account.pw_gid if is_root else None,
            extra_groups=[] if is_root else None,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def write(self, name: str, text: str) -> Path:
        """Write a file that only the account of the cluster may read."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)
        return path

    def start(self) -> None:
        """Start it, and wait until it takes statements."""
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c port={PORT} -c fsync=off"
        log = self.folder / "log"
        self.run(self.programs / "pg_ctl", "start", f"--pgdata={self.data}", f"--log={log}", f"--options={options}")

    def stop(self) -> None:
        """Stop it."""
        self.run(self.programs / "pg_ctl", "stop", f"--pgdata={self.data}", "--mode=fast")

    def create_database(self, name: str) -> str:
        """Create an empty database, and return its address."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0".encode())
        return self.url(name)


@contextmanager
def other_postgres() -> Generator[OtherPostgres]:
    """Yield a new cluster that is not started; it is stopped and deleted afterwards."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    require(is_there=bool(found), package="postgresql")
    account = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    with tempfile.TemporaryDirectory(prefix="gatehouse-other-") as folder:
        if os.geteuid() == 0:
            os.chown(folder, account.pw_uid, account.pw_gid)
        postgres = OtherPostgres(found[0].parent, Path(folder), account)
        postgres.run(
            postgres.programs / "initdb",
            f"--pgdata={postgres.data}",
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
        )
        try:
            yield postgres
        finally:
            if (postgres.data / "postmaster.pid").exists():
                postgres.stop()
