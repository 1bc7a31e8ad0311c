"""The releases, and a working copy of the commit of one with an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ops.benchmarks.progress import Say
from ops.benchmarks.servers import CannotMeasure

ROOT: Final = Path(__file__).resolve().parents[2]
RELEASES: Final = ROOT / "ops/releases"
MIGRATIONS: Final = "adapters/postgres/schema/migrations"
GIT_SECONDS_MAX: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A line of `ops/releases`."""

    version: str
    date: str
    commit: str


def extract_older(text: str, folder: Path, migrations: int, *, repository: Path = ROOT) -> Release:
    """Write the files of the newest release with fewer migrations to this folder: what an upgrade begins at."""
    for each in reversed(_all(text)):
        extract(each, folder, repository=repository)
        if len(list((folder / MIGRATIONS).glob("*.sql"))) < migrations:
            return each
        shutil.rmtree(folder)
    raise CannotMeasure(f"ops/releases names no release with fewer than {migrations} migrations.")


def release(text: str, version: str) -> Release:
    """Return the release of a version that `ops/releases` names."""
    for each in _all(text):
        if each.version == version:
            return each
    raise CannotMeasure(f"ops/releases does not name {version}, which is to be compared with.")


def check_out(release: Release, folder: Path, say: Say, *, repository: Path = ROOT) -> Path:
    """Write the files of the release to this folder and prepare them; return its command `gatehouse`."""
    extract(release, folder, repository=repository)
    say(f"preparing {release.version} ({release.commit[:12]})")
    prepared = subprocess.run([folder / "ops/prepare", "run"], check=False)
    if prepared.returncode:
        raise CannotMeasure(f"{release.version} cannot be prepared; the lines above say why.")
    return folder / ".venv/bin/gatehouse"


def extract(release: Release, folder: Path, *, repository: Path) -> None:
    """Write the files of the release to this folder; get its commit first if this clone is shallow."""
    archive = folder.with_suffix(".tar")
    command = ("archive", f"--output={archive}", release.commit)
    failure = _git(repository, *command)
    if failure and not _git(repository, "fetch", "--quiet", "--depth=1", "origin", release.commit):
        failure = _git(repository, *command)
    if failure:
        raise CannotMeasure(
            f"The commit of {release.version}, {release.commit}, is not in this repository and cannot be fetched."
            f" Clone with the whole history (git fetch --unshallow), and check the last line of ops/releases."
            f" git said: {failure}"
        )
    folder.mkdir()
    subprocess.run(["tar", "--extract", f"--file={archive}", f"--directory={folder}"], check=True)
    archive.unlink()


def _all(text: str) -> list[Release]:
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Release(version=version, date=date, commit=commit) for version, date, commit in lines]


def _git(repository: Path, *arguments: str) -> str | None:
    """Run git; return the end of what it said if it failed, None if it succeeded."""
    try:
        finished = subprocess.run(
            ["git", "-C", repository, *arguments],
            check=False,
            capture_output=True,
            text=True,
            # It must not ask for a password.
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0"},
            timeout=GIT_SECONDS_MAX,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as failure:
        return str(failure)
    return (finished.stderr.strip() or "nothing") if finished.returncode else None
