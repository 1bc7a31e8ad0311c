"""The test kit of the Python package, and the guides of the manual, which a reader follows from an empty folder.

Both run in an environment without the service, as in a product.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser import CHROMIUM
from tests.documents import ROOT
from tests.peers import Peer, peer
from tests.processes import GATEHOUSE

pytestmark = pytest.mark.long

PACKAGE = ROOT / "ops" / "clients" / "python"
TESTS = PACKAGE / "tests_with_server"
SECONDS_MAX = 1_500.0
GUIDES = sorted(path.stem for path in (ROOT / "ops" / "docs" / "guides").glob("*.md"))


def run(*command: str | Path, folder: Path, **own: str) -> None:
    """Run a program of a reader to its end, without what the environment of the tests sets."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYTEST", "COV", "GATEHOUSE_", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=kept | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"


def built(source: Path, folder: Path, kit: Peer) -> Path:
    """Return the wheel of a project."""
    wheels = folder / f"wheels-of-{source.name}"
    run(kit.program("python"), "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, source, folder=folder)
    [wheel] = wheels.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a developer, with a cache of its own."""
    return tmp_path_factory.mktemp("developer")


@pytest.fixture(scope="module")
def wheel(place: Path) -> Path:
    """The wheel of the package, installed in the environment of the developer."""
    kit = peer("python-test-kit")
    source = shutil.copytree(PACKAGE, place / "package", ignore=shutil.ignore_patterns("__pycache__"))
    wheel = built(source, place, kit)
    run(kit.program("python"), "-m", "venv", place / "environment", folder=place)
    [packages] = (place / "environment" / "lib").glob("python*/site-packages")
    # Other processes read what is installed for the peer, so nothing is installed there.
    (packages / "peer.pth").write_text(f"{kit.programs.parent / packages.relative_to(place / 'environment')}\n")
    run(python_of(place), "-m", "pip", "install", "-qq", "--no-deps", "--no-index", wheel, folder=place)
    return wheel


def python_of(place: Path) -> Path:
    """Return the interpreter of the developer."""
    return place / "environment" / "bin" / "python"


def in_pytest(place: Path, wheel: Path, *arguments: str | Path) -> None:
    """Run tests of the kit, away from the checkout, whose settings are for the tests of the service."""
    tests = place / "tests"
    if not tests.exists():
        shutil.copytree(TESTS, tests, ignore=shutil.ignore_patterns("__pycache__"))
        (place / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    run(
        *(python_of(place), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", place / "pytest.ini", *arguments),
        folder=place,
        XDG_CACHE_HOME=str(place / "caches"),
        GATEHOUSE_CHROMIUM=CHROMIUM or "",
        GATEHOUSE_CLIENT_WHEEL=str(wheel),
        GATEHOUSE_GUIDES=str(ROOT / "ops" / "docs" / "guides"),
    )


def test_the_kit_installs_a_server_from_its_wheel_and_tests_with_it(place: Path, wheel: Path) -> None:
    copy = place / "gatehouse"
    subprocess.run(["git", "clone", "-q", "--shared", ROOT, copy], check=True, timeout=SECONDS_MAX)
    server = built(copy, place, peer("python-test-kit"))

    in_pytest(place, wheel, "tests/kit", "--gatehouse-requirement", server)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_leads_from_an_empty_folder_to_what_it_promises(place: Path, wheel: Path, name: str) -> None:
    in_pytest(place, wheel, "tests/guides", "-k", f"[{name}]", "--gatehouse-command", GATEHOUSE)
