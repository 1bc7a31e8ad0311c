"""The Python package in `ops/clients/python`: its own tests pass, and its generated modules are up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.documents import ROOT

PACKAGE = ROOT / "ops" / "clients" / "python"
SECONDS_MAX = 300.0


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment to its end, without what the environment of the tests sets for Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=PACKAGE,
        env=kept | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def test_the_generated_modules_are_those_of_the_interface() -> None:
    done = run("generate.py", "--check")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tests_of_the_package_pass() -> None:
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")

    assert done.returncode == 0, done.stdout + done.stderr
