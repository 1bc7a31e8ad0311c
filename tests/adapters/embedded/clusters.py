"""Folders for clusters, and processes that use them, for tests."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg
import pytest

from adapters.postgres.embedded.folder import FileLock, poll_until
from adapters.postgres.embedded.server import EmbeddedPostgres

DEADLINE_SECONDS = 60.0
REPOSITORY = Path(__file__).resolve().parents[3]
# Prints the address on its first line, and releases PostgreSQL when its input ends.
USER = """
import sys
from pathlib import Path
from adapters.postgres.embedded.server import EmbeddedPostgres

with EmbeddedPostgres(Path(sys.argv[1])) as address:
    print(address, flush=True)
    sys.stdin.read()
"""


class OtherProcess:
    """A Python process that the test starts; the test reads its first line, stops it or kills it."""

    def __init__(self, program: str, folder: Path, first_on_path: Path = REPOSITORY) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder)],
            env=os.environ | {"PYTHONPATH": f"{first_on_path}:{REPOSITORY}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def first_line(self) -> str:
        assert self._process.stdout is not None
        assert select.select([self._process.stdout], [], [], DEADLINE_SECONDS)[0], (
            "the process printed nothing before the deadline"
        )
        return self._process.stdout.readline().strip()

    def stop(self) -> None:
        """Close its input, and wait until it has ended without an error."""
        self._process.communicate(timeout=DEADLINE_SECONDS)
        assert self._process.returncode == 0

    def kill(self) -> None:
        """Send SIGKILL, and wait until it has ended."""
        self._process.kill()
        self._process.communicate(timeout=DEADLINE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running PostgreSQL: its data folder and its address."""

    folder: Path
    address: str


class Starter(Protocol):
    """Starts another process that the end of the test kills."""

    def __call__(self, program: str, folder: Path, first_on_path: Path = REPOSITORY) -> OtherProcess: ...


@pytest.fixture
def start_process() -> Iterator[Starter]:
    processes: list[OtherProcess] = []

    def start(program: str, folder: Path, first_on_path: Path = REPOSITORY) -> OtherProcess:
        process = OtherProcess(program, folder, first_on_path)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()


@pytest.fixture
def new_folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder that does not exist yet."""
    yield tmp_path / "data"
    remove(tmp_path / "data")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("original") / "data"
    with EmbeddedPostgres(folder) as address:
        remember(address, "kept")
    yield folder
    remove(folder)


@pytest.fixture
def folder(original: Path, new_folder: Path) -> Path:
    """A data folder in which PostgreSQL ran before; the database remembers "kept"."""
    return copied(original, new_folder)


@pytest.fixture(scope="module")
def running(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running PostgreSQL, for tests that change nothing."""
    folder = copied(original, tmp_path_factory.mktemp("running") / "data")
    with EmbeddedPostgres(folder) as address:
        yield Running(folder=folder, address=address)
    remove(folder)


def copied(original: Path, folder: Path) -> Path:
    """Copy a data folder with its owners, in a tenth of the time of creating a cluster."""
    subprocess.run(["cp", "-a", original, folder], check=True, timeout=DEADLINE_SECONDS)
    return folder


def remove(folder: Path) -> None:
    """Kill what still runs in the data folder, and delete it: it has 40 MB, and pytest would keep it."""
    if not folder.exists():
        return
    if not is_dead(folder):
        os.kill(postmaster_pid(folder), signal.SIGQUIT)
        assert poll_until(lambda: is_dead(folder), DEADLINE_SECONDS)
    shutil.rmtree(folder)


def postmaster_pid(folder: Path) -> int:
    return int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def is_dead(folder: Path) -> bool:
    with FileLock(folder / "postgres.alive.lock") as alive:
        return alive.acquire()


def remember(address: str, word: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS remembered (word text NOT NULL)")
        connection.execute("INSERT INTO remembered VALUES (%s)", (word,))


def value(address: str, query: str) -> object:
    with psycopg.connect(address) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]
