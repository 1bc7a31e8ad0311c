"""The tools of `ops/requirements-release.lock`: what builds the wheels, and what lists the packages."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import venv
from pathlib import Path
from typing import Final

from ops.releasing.commands import ROOT, run

LOCK: Final = Path("ops") / "requirements-release.lock"
CLIENT: Final = Path("ops") / "clients" / "python"
_HASH_CHARACTERS: Final = 12
_PIP: Final = ("-m", "pip", "--disable-pip-version-check")


def folder_of_all() -> Path:
    """Return where the tools are: .gatehouse-release, or where RELEASE_TOOLS says, for several clones."""
    return Path(os.environ.get("RELEASE_TOOLS") or ROOT / ".gatehouse-release").absolute()


def installed() -> Path:
    """Return the folder of the programs, which are installed by their lock; once for each lock and Python."""
    below = folder_of_all()
    mark = hashlib.sha256((ROOT / LOCK).read_bytes() + sys.version.encode()).hexdigest()[:_HASH_CHARACTERS]
    folder = below / mark
    if not (folder / "ready").exists():
        shutil.rmtree(below, ignore_errors=True)
        venv.create(folder, with_pip=True)
        options = ("install", "-qq", "--no-compile", "--require-hashes", "-r", str(ROOT / LOCK))
        run(str(folder / "bin" / "python"), *_PIP, *options, cwd=folder)
        (folder / "ready").touch()
    return folder / "bin"


def build_wheel(tools: Path, project: Path, into: Path, moment: int) -> None:
    """Build the wheel of a project by the locked tools, without the network."""
    options = ("wheel", "-qq", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(into), ".")
    run(str(tools / "python"), *_PIP, *options, cwd=project, moment=moment)


def list_packages(tools: Path, source: Path, into: Path, moment: int) -> None:
    """Write which packages are in the release, with the hashes of the lock."""
    options = ("--output-reproducible", "--output-format", "JSON", "--output-file", str(into))
    names = ("--pyproject", "pyproject.toml", "ops/requirements.lock")
    run(str(tools / "cyclonedx-py"), "requirements", *options, *names, cwd=source, moment=moment)
