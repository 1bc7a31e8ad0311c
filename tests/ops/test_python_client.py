"""The Python package in `ops/clients/python`: its own tests pass, and its generated modules are up to date."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from io import BytesIO
from pathlib import Path

import pytest

from entrypoints.pages.downloads.downloads import client_wheel
from tests.documents import ROOT
from tests.peers import peer

PACKAGE = ROOT / "ops" / "clients" / "python"
SECONDS_MAX = 300.0


def run(
    *arguments: str | Path, program: str | Path = sys.executable, folder: Path = PACKAGE
) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, without what the environment of the tests sets for it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    return subprocess.run(
        [program, *arguments],
        check=False,
        cwd=folder,
        env=kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def test_the_generated_modules_are_those_of_the_interface() -> None:
    done = run("generate.py", "--check")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_number_of_a_generated_version_rises_when_a_name_has_gone() -> None:
    with_version = runpy.run_path(str(PACKAGE / "generating" / "versions.py"))["with_version"]
    source = 'API_VERSION: Final = "0.0"\n\n\ndef show(slug: str, *, page: int = 1) -> None: ...\n'
    first = with_version(source, None)

    assert 'API_VERSION: Final = "1.0"' in first
    assert with_version(source, first) == first
    added = with_version(source.replace("page: int = 1", "page: int = 1, limit: int = 1"), first)
    assert 'API_VERSION: Final = "1.1"' in added
    for gone in (source, source.replace("page", "limit"), source.replace("show", "read")):
        assert 'API_VERSION: Final = "2.0"' in with_version(gone, added), gone


def test_the_tests_of_the_package_pass() -> None:
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the package, built from a copy without what tests and tools leave behind."""
    folder = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    built = peer("python-client").run(
        "python",
        *("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"),
        *("--wheel-dir", str(folder), str(source)),
        folder=folder,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    [path] = folder.glob("*.whl")
    return path


def contents(wheel: Path | BytesIO) -> dict[str, bytes | tuple[list[str], str]]:
    """Return the files of a wheel; the fields of its metadata without their order, and without who made it."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name.partition(".dist-info/")[2] or name: archive.read(name) for name in archive.namelist()}
    metadata = message_from_bytes(files.pop("METADATA"))
    fields = [f"{name}: {value}" for name, value in metadata.items() if name != "Metadata-Version"]
    del files["WHEEL"], files["RECORD"]
    files["entry_points.txt"] = files["entry_points.txt"].rstrip()
    return {**files, "METADATA": (sorted(fields), str(metadata.get_payload()))}


@pytest.mark.long
def test_the_wheel_that_an_installation_serves_has_what_the_build_tool_writes(wheel: Path) -> None:
    served = client_wheel()

    assert served.name == wheel.name
    assert contents(BytesIO(served.content)) == contents(wheel)


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_works_in_an_empty_environment_of_each_python(wheel: Path, tmp_path: Path, version: str) -> None:
    interpreter = interpreter_of(version)
    if interpreter is None:
        pytest.skip(f"there is no Python {version} here")
    tests = shutil.copytree(PACKAGE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = tests\naddopts = --import-mode=importlib\n")
    python = tmp_path / "environment" / "bin" / "python"
    lock = ROOT / "tests" / "peers" / "python-client" / "requirements.txt"

    for command in (
        [interpreter, "-m", "venv", tmp_path / "environment"],
        [python, "-m", "pip", "install", "-qq", "--no-deps", "--require-hashes", "-r", lock],
        [python, "-m", "pip", "install", "-qq", "--no-deps", "--no-index", wheel],
        [python, tests / "readme_example.py", PACKAGE / "README.md"],
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests],
    ):
        done = run(*command[1:], program=command[0], folder=tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def interpreter_of(version: str) -> str | None:
    """Return a Python of that version that can make environments; version managers install commands that fail."""
    for path in (f"python{version}", *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        found = shutil.which(path)
        if found is not None and run("-c", "import ensurepip, venv", program=found).returncode == 0:
            return found
    return None
