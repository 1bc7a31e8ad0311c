"""The version of this tree: a release's, or between two of them one such as 0.4.0.dev12+942a704e0b1c.

    python3 ops/version.py                    # prints it
    python3 ops/version.py --note .venv       # leaves it in an environment, where `gatehouse --version` reads it
    python3 ops/version.py --note DIR --given 0.4.0.dev12+942a704e0b1c

A version that `ops/releases` lists was released, so that a tree which still has it is on its way to the next one. The
number counts the commits since then; an archive has no history, and counts 0. Serving reads the note alone: a new
commit makes no environment stale, and nothing asks git while the service runs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
# `entrypoints/version.py` reads this file.
NOTE: Final = "gatehouse-version"
COMMIT_DIGITS: Final = 12


def package_version(root: Path) -> str:
    """Return the version that the package has."""
    return str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"])


def version_of(root: Path) -> str:
    """Return the version of the tree."""
    version = package_version(root)
    lines = (root / "ops" / "releases").read_text().splitlines()
    released = {name: commit for name, _, commit in (line.split() for line in lines if line[:1].isdigit())}
    if version not in released:
        return version
    major, minor, _ = version.split(".")
    number, commit = _history(root, released[version])
    return f"{major}.{int(minor) + 1}.0.dev{number}" + (f"+{commit[:COMMIT_DIGITS]}" if commit else "")


def _history(root: Path, release: str) -> tuple[int, str]:
    """Return how many commits there are since a release, and the last one."""
    # An archive may be unpacked inside another repository.
    if (root / ".git").exists():
        commit, number = _git(root, "rev-parse", "HEAD"), _git(root, "rev-list", "--count", f"{release}..HEAD")
        return int(number or 0), commit
    # `git archive` has written the commit into this file.
    archived = (root / "ops" / "commit").read_text().strip()
    return 0, archived if re.fullmatch(r"[0-9a-f]{40}", archived) else ""


def _git(root: Path, *arguments: str) -> str:
    """Return what git says; nothing where it is missing, or refuses a folder of another user."""
    try:
        said = subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()


def note(folder: Path, package: str, version: str) -> None:
    """Leave the version in an environment, beside the version of the package for which it was noted."""
    file, text = folder / NOTE, f"{package} {version}\n"
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def main() -> None:
    """Print or leave the version."""
    parser = argparse.ArgumentParser(description="Print the version of this tree.")
    parser.add_argument("--note", type=Path, metavar="DIR", help="leave it in this environment instead")
    parser.add_argument("--given", help="the version, where the tree is not whole")
    options = parser.parse_args()
    version = options.given or version_of(ROOT)
    if options.note is None:
        print(version)
    else:
        note(options.note, package_version(ROOT), version)


if __name__ == "__main__":
    main()
