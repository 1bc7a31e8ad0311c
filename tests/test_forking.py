"""Tests in several processes: each runs once, its failure is reported, and so is the end of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.forking import CHUNK_WEIGHT_MAX, chunks_of

CONFTEST = """
import pytest
from tests import forking

def pytest_addoption(parser):
    forking.add_option(parser)

def pytest_configure(config):
    config.pluginmanager.register(forking.Processes(config, config.getoption("processes"), print))

def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["answer"] = 42

@pytest.fixture(scope="session")
def made(tmp_path_factory):
    yield tmp_path_factory.mktemp("made")
    print("what the session made has ended")
"""
PASSES = """
def test_first(made): made.joinpath("file").touch()
def test_second(made): assert made.joinpath("file").exists()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three modules whose tests pass."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("a", "b", "c"):
        (tmp_path / f"test_{name}.py").write_text(PASSES)
    return tmp_path


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run the tests of a folder in two processes, and return how that ended and what it printed."""
    command = [sys.executable, "-m", "pytest", "--processes=2", "--rootdir=.", "-p", "no:cacheprovider", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    ended = subprocess.run(
        command, cwd=folder, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_every_test_runs_once_and_what_processes_counted_is_handed_on(folder: Path) -> None:
    code, printed = run(folder)

    assert code == 0, printed
    assert "6 passed" in printed
    assert printed.count("{'answer': 42}") == 2


def test_a_failure_is_reported_with_what_the_test_printed(folder: Path) -> None:
    (folder / "test_b.py").write_text("def test_fails():\n    print('printed before')\n    assert 1 == 2\n")

    code, printed = run(folder)

    assert code == 1
    assert "1 failed, 4 passed" in printed
    assert "printed before" in printed
    assert "assert 1 == 2" in printed


def test_a_process_that_ends_is_a_failure_of_the_test_that_it_ran(folder: Path) -> None:
    (folder / "test_b.py").write_text("import os\ndef test_ends(): os._exit(0)\ndef test_not_run(): pass\n")

    code, printed = run(folder)

    assert code == 1
    assert "FAILED test_b.py::test_ends - the process that ran this test ended" in printed
    assert "1 tests of the module were not run" in printed


def test_a_run_that_stops_at_the_first_failure_hands_out_no_more(folder: Path) -> None:
    (folder / "test_a.py").write_text("def test_fails(): assert False\n" * 2 + "def test_later(): pass\n" * 9)

    code, printed = run(folder, "-x")

    assert code == 1
    assert "stopping after 1 failures" in printed


def test_nothing_collected_and_errors_of_collecting_are_told_as_in_one_process(folder: Path) -> None:
    assert run(folder, "-k", "no_such_test")[0] == pytest.ExitCode.NO_TESTS_COLLECTED

    (folder / "test_b.py").write_text("import no_such_module\n")

    code, printed = run(folder)

    assert code == pytest.ExitCode.INTERRUPTED
    assert "No module named 'no_such_module'" in printed


def test_a_chunk_is_of_one_module_and_of_few_long_tests(request: pytest.FixtureRequest) -> None:
    items = request.session.items

    chunks = chunks_of(items)

    assert [number for chunk in chunks for number in chunk] == list(range(len(items)))
    for chunk in chunks:
        of_chunk = [items[number] for number in chunk]
        assert len({item.path for item in of_chunk}) == 1
        assert 1 <= len(of_chunk) <= CHUNK_WEIGHT_MAX
