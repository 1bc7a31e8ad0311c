"""Independent programs that Gatehouse must work with, each in an environment of its own.

A folder `tests/peers/NAME/` has a locked list with hashes: `requirements.txt` (made from `requirements.in` by
`pip-compile --generate-hashes`) for Python, or `package-lock.json` for Node. `peer(NAME)` installs it once per machine,
below `.gatehouse-peers/`, and returns where its programs are. Their packages may conflict with ours, so none is in our
own locks. Installing needs the package registries and takes many seconds, so tests with peers are marked `long`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKS = ROOT / "tests" / "peers"
INSTALLED = ROOT / ".gatehouse-peers"
INSTALL_SECONDS_MAX = 600.0
RUN_SECONDS_MAX = 800.0
HASH_CHARACTERS = 12


@dataclass(frozen=True)
class Peer:
    """An installed peer: the folder of its lock and of its tests' own files, and the folder of its programs."""

    files: Path
    programs: Path

    def program(self, name: str) -> str:
        """Return the path of one of its programs: `python`, `tsc`, …"""
        path = self.programs / name
        assert path.exists(), f"the peer has no program {name}: {sorted(one.name for one in self.programs.iterdir())}"
        return str(path)

    def run(
        self, name: str, *arguments: str, folder: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs to its end in that folder, with its other programs on the path."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GATEHOUSE_"))}
        own["PATH"] = f"{self.programs}{os.pathsep}{own['PATH']}"
        return subprocess.run(
            [self.program(name), *arguments],
            check=False,
            cwd=folder,
            env=own | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
        )


def peer(name: str) -> Peer:
    """Return a peer, which is installed when it is missing or its lock has changed; of two callers one installs it."""
    files = LOCKS / name
    lock = _lock_file(files)
    mark = hashlib.sha256(lock.read_bytes() + sys.version.encode() + str(ROOT).encode()).hexdigest()[:HASH_CHARACTERS]
    folder = INSTALLED / f"{name}-{mark}"
    INSTALLED.mkdir(exist_ok=True)
    with (INSTALLED / f"{name}.lock").open("w") as held:
        # The kernel releases it when the process ends, however it ends.
        fcntl.flock(held, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            for outdated in INSTALLED.glob(f"{name}-????????????"):
                shutil.rmtree(outdated)
            folder.mkdir()
            _install(lock, folder)
            (folder / "ready").touch()
    return Peer(files, _programs(lock, folder))


def _lock_file(files: Path) -> Path:
    found = [files / name for name in ("requirements.txt", "package-lock.json") if (files / name).exists()]
    assert len(found) == 1, f"{files} has no lock, or two"
    return found[0]


def _is_python(lock: Path) -> bool:
    return lock.suffix == ".txt"


def _programs(lock: Path, folder: Path) -> Path:
    return folder / ("bin" if _is_python(lock) else "node_modules/.bin")


def _install(lock: Path, folder: Path) -> None:
    if _is_python(lock):
        _run([sys.executable, "-m", "venv", str(folder)], folder)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        _run([*pip, "--no-deps", "--require-hashes", "-r", str(lock)], folder)
    else:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(lock.parent / name, folder)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)


def _run(command: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # Settings of the user that would install elsewhere.
    environment |= {"PIP_USER": "0", "PIP_NO_INPUT": "1"}
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS_MAX,
    )
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}"
