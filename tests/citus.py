"""A cluster of PostgreSQL with Citus for the tests: one coordinator and two workers, from the archive that
`GATEHOUSE_TEST_CITUS` names.

Citus was built for Debian's PostgreSQL 15 from 15.20 on. The installed one is taken when it is new enough, otherwise
the packages are downloaded. Either way the files of Citus go into a private copy of it: nothing is written to the
folders of the system. The copy is kept in the temporary folder, for the next run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import ROLE
from tests.costs import count_postgres
from tests.memory import memory_folder

ARCHIVE: Final = "GATEHOUSE_TEST_CITUS"
WORKERS: Final = 2
PORT: Final = 5432
INSTALLED: Final = (Path("/usr/lib/postgresql/15"), Path("/usr/share/postgresql/15"))
VERSION_MIN: Final = (15, 20)
PACKAGES: Final = ("postgresql-15", "postgresql-client-15", "libpq5")
PROGRAM_SECONDS_MAX: Final = 120.0
# Small, and fast: a cluster of a test would not survive a power cut. Two shards on each worker are enough to see what
# asks several of them.
# A commit is written before it is confirmed, since nodes are killed; only the machine itself never crashes.
SETTINGS: Final = """
listen_addresses = ''
port = {port}
unix_socket_directories = '{folder}'
shared_preload_libraries = 'citus'
shared_buffers = '64MB'
max_connections = 100
max_worker_processes = 32
max_prepared_transactions = 100
fsync = off
full_page_writes = off
autovacuum = off
deadlock_timeout = '50ms'
jit = off
citus.shard_count = 4
citus.local_hostname = '{folder}'
citus.max_adaptive_executor_pool_size = 2
citus.distributed_deadlock_detection_factor = 10
citus.enable_statistics_collection = off
"""


def archive() -> Path | None:
    """Return the archive of Citus; None when the environment names none."""
    return Path(given) if (given := os.environ.get(ARCHIVE)) else None


def require_citus() -> Path:
    """Return the archive; skip the test when the environment names none, which in CI is an error."""
    if (found := archive()) is None:
        missing = pytest.fail if os.environ.get("CI") and _lies_beside() else pytest.skip
        missing(f"{ARCHIVE} names no archive of Citus")
    return found


def _lies_beside() -> bool:
    """Return whether the archive lies where CI looks for it, so that CI has forgotten to name it."""
    return any(Path(__file__).parents[2].glob("shared/engines/citus-*.tar.xz"))


@dataclass
class Programs:
    """A private copy of PostgreSQL with Citus."""

    folder: Path
    account: pwd.struct_passwd

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run a program of PostgreSQL as the account of its clusters."""
        is_root = os.geteuid() == 0
        done = subprocess.run(
            [self.folder / "usr/lib/postgresql/15/bin" / program, *arguments],
            check=False,
            cwd="/",
            env=os.environ | self._environment(),
            stdin=subprocess.DEVNULL,
            # A server that pg_ctl starts would hold a pipe open.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=PROGRAM_SECONDS_MAX,
            user=self.account.pw_uid if is_root else None,
            group=self.account.pw_gid if is_root else None,
            extra_groups=[] if is_root else None,
        )
        assert done.returncode == 0, f"{program} {' '.join(str(each) for each in arguments)}: {done.returncode}"

    def _environment(self) -> dict[str, str]:
        libraries = [str(folder) for folder in (self.folder / "usr/lib").glob("*-linux-gnu")]
        return {"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}


@dataclass
class Node:
    """A server of the cluster; its folder is also the host by which the others reach it."""

    programs: Programs
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """The folder of the data."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The log of the server."""
        return self.folder / "log"

    def url(self, database: str = "postgres", *, role: str = ROLE) -> str:
        """Return the address of a database."""
        return make_conninfo(host=str(self.folder), port=PORT, user=role, dbname=database)

    def start(self) -> None:
        """Start the server, and wait until it takes statements."""
        self.programs.run("pg_ctl", "start", "--wait", "--silent", f"--pgdata={self.data}", f"--log={self.log}")
        count_postgres(self.postmaster)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server, if it runs; `immediate` is a crash."""
        if (self.data / "postmaster.pid").exists():
            self.programs.run("pg_ctl", "stop", f"--pgdata={self.data}", f"--mode={mode}", "--silent")

    @property
    def postmaster(self) -> int:
        """The id of its main process."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def configure(self, **settings: str) -> None:
        """Write the settings, for the next start."""
        self.settings |= settings
        text = SETTINGS.format(port=PORT, folder=self.folder)
        text += "".join(f"{name.replace('__', '.')} = '{value}'\n" for name, value in self.settings.items())
        _write(self.data / "postgresql.auto.conf", text, self.programs.account)


@dataclass
class Cluster:
    """A coordinator and its workers; each database has to be made known to them by `connect_nodes`."""

    nodes: Sequence[Node]

    @property
    def coordinator(self) -> Node:
        """The node that the product connects to."""
        return self.nodes[0]

    @property
    def workers(self) -> Sequence[Node]:
        """The nodes that hold shards."""
        return self.nodes[1:]

    def add_extension(self, database: str) -> None:
        """Make a new database of every node one that can be part of the cluster."""
        for node in self.nodes:
            with administrator(node, database) as connection:
                connection.execute("CREATE EXTENSION citus")

    def connect_nodes(self, database: str, *, workers: int | None = None) -> None:
        """Make the databases of one name a cluster, of so many workers; of all by default."""
        with administrator(self.coordinator, database) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", (str(self.coordinator.folder), PORT))
            for worker in self.workers[:workers]:
                connection.execute("SELECT citus_add_node(%s, %s)", (str(worker.folder), PORT))


@contextmanager
def administrator(node: Node, database: str = "postgres") -> Generator[psycopg.Connection]:
    """Connect as the superuser."""
    with closing(psycopg.connect(node.url(database, role=SUPERUSER), autocommit=True)) as connection:
        yield connection


@contextmanager
def running_cluster(workers: int = WORKERS, **settings: str) -> Generator[Cluster]:
    """Run a coordinator and its workers, without a database of ours."""
    programs = _programs(require_citus())
    with tempfile.TemporaryDirectory(prefix="gatehouse-citus-", dir=memory_folder()) as folder, ExitStack() as stack:
        root = Path(folder)
        _own(root, programs.account)
        nodes = [Node(programs, root / str(number)) for number in range(workers + 1)]
        for node in nodes:
            node.folder.mkdir()
            _own(node.folder, programs.account)
        first = nodes[0]
        programs.run(
            "initdb",
            f"--pgdata={first.data}",
            f"--username={SUPERUSER}",
            "--auth=trust",
            "--no-sync",
            "--locale=C.UTF-8",
        )
        for node in nodes[1:]:
            # Faster than to make it again.
            subprocess.run(["cp", "--archive", first.data, node.data], check=True)
        for node in nodes:
            node.configure(**settings)
            stack.callback(node.stop, "immediate")
            node.start()
            with administrator(node) as connection:
                # Not a superuser, as the product's role is none.
                connection.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB".encode())
                connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {ROLE}".encode())
        yield Cluster(nodes)


def _programs(archive: Path) -> Programs:
    """Return the copy of PostgreSQL with Citus, which the first run makes."""
    account = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"gatehouse-citus-{digest}-{os.geteuid()}"
    # Several processes of a test run begin together.
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.parent) as made:
                root = Path(made) / "root"
                root.mkdir()
                _copy_postgres(root)
                _add_citus(root, archive)
                # The account of the server has to reach it.
                root.chmod(0o755)
                root.rename(folder)
    return Programs(folder, account)


def _copy_postgres(root: Path) -> None:
    programs, shared = INSTALLED
    if _version(programs / "bin/postgres") >= VERSION_MIN:
        shutil.copytree(programs, root / programs.relative_to("/"), symlinks=True)
        shutil.copytree(shared, root / shared.relative_to("/"), symlinks=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        # The lists may be old; refreshing them may fail on one of several sources.
        if os.geteuid() == 0:
            subprocess.run(["apt-get", "update", "-qq"], check=False, stdout=subprocess.DEVNULL)
        subprocess.run(["apt-get", "download", "-qq", *PACKAGES], check=True, cwd=folder)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, root], check=True)
    found = _version(root / programs.relative_to("/") / "bin/postgres", libraries=root)
    assert found >= VERSION_MIN, f"Debian offers PostgreSQL {found}, and Citus needs {VERSION_MIN} or later"


def _version(program: Path, *, libraries: Path | None = None) -> tuple[int, ...]:
    if not program.exists():
        return ()
    found = [str(folder) for folder in (libraries / "usr/lib").glob("*-linux-gnu")] if libraries else []
    environment = os.environ | ({"LD_LIBRARY_PATH": ":".join(found)} if found else {})
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True, env=environment).stdout
    version = re.search(r"\(PostgreSQL\) (\d+)\.(\d+)", said)
    assert version is not None, f"the version of PostgreSQL is in {said!r}"
    return tuple(int(part) for part in version.groups())


def _add_citus(root: Path, archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        shutil.copytree(Path(folder) / "lib", root / "usr/lib/postgresql/15/lib", dirs_exist_ok=True)
        shutil.copytree(
            Path(folder) / "share/extension", root / "usr/share/postgresql/15/extension", dirs_exist_ok=True
        )


def _own(path: Path, account: pwd.struct_passwd) -> None:
    path.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(path, account.pw_uid, account.pw_gid)


def _write(path: Path, text: str, account: pwd.struct_passwd) -> None:
    path.write_text(text)
    path.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(path, account.pw_uid, account.pw_gid)
