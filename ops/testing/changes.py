"""What has changed: the working tree, and all commits since the last one at which `ops/report` passed whole.

That commit stands in a file which is checked in. Where it is not known, everything counts as changed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PASSED_AT: Final = ROOT / "ops/report.d/passed-at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The files that have changed, deleted ones included; `files` is None where every file counts as changed."""

    since: str
    files: frozenset[str] | None

    def touch(self, patterns: Iterable[str]) -> bool:
        """Return whether a file has changed that a pattern names: one that ends with a slash names a folder."""
        return self.files is None or any(matches(file, pattern) for pattern in patterns for file in self.files)

    def __str__(self) -> str:
        if self.files is None:
            return f"every file counts as changed, because {self.since}"
        return f"{len(self.files)} files have changed since {self.since}"


def matches(file: str, pattern: str) -> bool:
    """Return whether a pattern names a file."""
    return file.startswith(pattern) if pattern.endswith("/") else fnmatch(file, pattern)


def changes(since: str | None = None) -> Changes:
    """Return what has changed since a commit, or since the one that the file names."""
    commit = since or (PASSED_AT.read_text().strip() if PASSED_AT.exists() else "")
    if not commit:
        return Changes(since="ops/report has not passed whole yet", files=None)
    if _git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return Changes(since=f"commit {commit[:12]} is not in this clone", files=None)
    committed = _git("diff", "--name-only", "--no-renames", commit)
    added = _git("ls-files", "--others", "--exclude-standard")
    if committed is None or added is None:
        return Changes(since="git cannot say what has changed", files=None)
    # The file itself says nothing about the code.
    own = str(PASSED_AT.relative_to(ROOT))
    return Changes(since=commit[:12], files=frozenset(committed + added) - {own})


def _git(*arguments: str) -> list[str] | None:
    """Return the lines that git prints; None where it fails, as in a folder that is no clone."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()
