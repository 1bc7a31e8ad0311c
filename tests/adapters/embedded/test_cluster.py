"""A cluster of the embedded PostgreSQL, seen from outside, and errors of its data folder."""

from __future__ import annotations

import os
import resource
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest

from adapters.postgres.embedded.cluster import Cluster
from adapters.postgres.embedded.folder import AlreadyServing, DataFolderError, ServingLock
from adapters.postgres.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.adapters.embedded.clusters import Running, Starter, copied, is_dead, remember, remove, value

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

SERVER = """
import sys
from pathlib import Path
from adapters.postgres.embedded.folder import ServingLock

with ServingLock(Path(sys.argv[1])):
    print("serving", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, whose path is shorter than pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def long_folder(temporary_folder: Path) -> Iterator[Path]:
    """A data folder whose path is too long for a socket; the short one will be in `temporary_folder`."""
    folder = temporary_folder / ("long" * 30) / "data"
    yield folder
    remove(folder)


def test_postgresql_listens_on_no_port(running: Running) -> None:
    assert value(running.address, "SHOW listen_addresses") == ""


def test_postgresql_requires_a_password(running: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(running.address, password="guessed")


def test_the_role_of_gatehouse_is_no_superuser(running: Running) -> None:
    assert value(running.address, "SHOW is_superuser") == "off"


def test_the_encoding_is_utf_8_and_case_conversion_is_not_limited_to_ascii(running: Running) -> None:
    assert value(running.address, "SHOW server_encoding") == "UTF8"
    assert value(running.address, "SELECT lower('É')") == "é"


def test_only_the_owner_can_open_the_cluster_or_read_the_password(running: Running) -> None:
    assert stat.S_IMODE((running.folder / "postgres").stat().st_mode) == 0o700
    assert stat.S_IMODE((running.folder / "postgres.password").stat().st_mode) == 0o600
    assert stat.S_IMODE(running.folder.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)


def test_an_existing_data_folder_keeps_its_permissions(new_folder: Path) -> None:
    new_folder.mkdir(mode=0o700)

    with EmbeddedPostgres(new_folder):
        pass

    assert stat.S_IMODE(new_folder.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_is_replaced_by_a_short_one(long_folder: Path, temporary_folder: Path) -> None:
    with EmbeddedPostgres(long_folder) as address:
        remember(address, "works")
        host = Path(unquote(address.partition("host=")[2].partition("&")[0]))
        mode = stat.S_IMODE(host.stat().st_mode)

    assert host.parent == temporary_folder
    assert mode == 0o700
    assert not host.exists()


def test_a_folder_open_to_other_users_is_not_used_for_the_socket(original: Path, long_folder: Path) -> None:
    long_folder.parent.mkdir()
    copied(original, long_folder)
    shared = Cluster(long_folder)._short_socket_folder()
    shared.mkdir()
    shared.chmod(0o777)

    with pytest.raises(EmbeddedPostgresError, match=f"{shared}, which would take its place, is not ours"):
        EmbeddedPostgres(long_folder).start()


def test_a_failed_start_reports_the_error_of_postgresql(folder: Path) -> None:
    with (folder / "postgres" / "postgresql.conf").open("a") as settings:
        settings.write("nonsense = 1\n")

    with pytest.raises(EmbeddedPostgresError, match='unrecognized configuration parameter "nonsense"'):
        EmbeddedPostgres(folder).start()


def test_a_missing_password_file_is_reported_and_postgresql_is_stopped(folder: Path) -> None:
    (folder / "postgres.password").unlink()

    with pytest.raises(EmbeddedPostgresError, match="Put it back from a backup"):
        EmbeddedPostgres(folder).start()

    assert is_dead(folder)


def test_a_changed_password_file_is_reported(folder: Path) -> None:
    (folder / "postgres.password").write_text("another\n")

    with pytest.raises(EmbeddedPostgresError, match="must be the one that was created together with it"):
        EmbeddedPostgres(folder).start()


def test_a_path_that_the_programs_cannot_handle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="without quotation marks"):
        EmbeddedPostgres(tmp_path / "$HOME").start()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataFolderError, match="GATEHOUSE_DATA_DIR"):
        EmbeddedPostgres(tmp_path / "file" / "data").start()


def test_a_second_server_in_the_folder_is_refused(new_folder: Path, start_process: Starter) -> None:
    other = start_process(SERVER, new_folder)
    other.first_line()

    with pytest.raises(AlreadyServing, match=f"serves from {new_folder} \\(process {other.pid}\\). Stop that process"):
        ServingLock(new_folder).acquire()


def test_the_right_to_serve_takes_no_space(new_folder: Path) -> None:
    _, most = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Every write to a file is refused, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        with ServingLock(new_folder), pytest.raises(AlreadyServing, match=r"\(process unknown\)"):
            ServingLock(new_folder).acquire()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_killed_server_releases_the_serving_lock(new_folder: Path, start_process: Starter) -> None:
    other = start_process(SERVER, new_folder)
    other.first_line()

    other.kill()
    with ServingLock(new_folder):
        holder = (new_folder / "serve.lock").read_text()

    assert holder == f"{os.getpid()}\n"
