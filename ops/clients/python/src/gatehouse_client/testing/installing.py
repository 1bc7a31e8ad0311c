"""The environment of the server: the kit installs Gatehouse apart from the tests, whose packages never meet its own.

It is made once for each wheel or copy, in the folder of caches of the account, and used again by every run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

INSTALL_SECONDS_MAX: Final = 900.0


def cache_folder() -> Path:
    """Return the folder of the kit below the folder of caches."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "gatehouse-client"


def installed_command(requirement: str) -> Path:
    """Return the command of a Gatehouse that is installed by itself, and install it if it is not.

    `requirement` is a wheel or the folder of a copy. A name is refused: on the package index, `gatehouse` is a package
    of strangers.
    """
    if not requirement or not Path(requirement).exists():
        raise RuntimeError(
            f"{requirement or 'Nothing'} is neither a wheel nor a folder. Name the wheel of a release of Gatehouse, or"
            " a copy of it, with --gatehouse-requirement=PATH. Or start an instance, and name it with"
            " GATEHOUSE_TEST_INSTANCE."
        )
    # As a whole path: pip takes the bare name of a folder that lies here for one of the package index.
    requirement = str(Path(requirement).resolve())
    folder = cache_folder() / "servers" / _name(requirement)
    command = folder / "bin" / "gatehouse"
    with _locked(folder):
        if not (folder / "complete").exists():
            venv.create(folder, clear=True, with_pip=True)
            _install(folder, requirement)
            (folder / "complete").touch()
    return command


def _install(folder: Path, requirement: str) -> None:
    sys.stderr.write(f"gatehouse: installing {requirement} into {folder}; this takes a minute, once.\n")
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", requirement]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
    if done.returncode:
        raise RuntimeError(
            f"The test kit could not install {requirement}. Name another one with --gatehouse-requirement, or an"
            f" instance that runs already with GATEHOUSE_TEST_INSTANCE. pip said:\n{done.stderr[-2000:]}"
        )


def _name(requirement: str) -> str:
    """Return the name of a folder for a requirement; what was built again or changed is another one."""
    path = Path(requirement)
    if path.is_dir():
        content = "\n".join(sorted(f"{one} {one.stat().st_mtime_ns}" for one in _sources(path))).encode()
    else:
        content = path.read_bytes()
    return f"{hashlib.sha256(content).hexdigest()[:16]}-python{sys.version_info.major}.{sys.version_info.minor}"


def _sources(folder: Path) -> Generator[Path]:
    """Yield the files of a copy that make the server another one."""
    yield folder / "pyproject.toml"
    for part in ("actors", "adapters", "core", "entrypoints", "ports"):
        for path in (folder / part).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Let one process at a time make a folder: the processes of pytest-xdist all begin at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
