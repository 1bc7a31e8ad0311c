"""A folder in memory for the files of tests: clusters, databases, logs and everything else that ends with the run.

A cluster of PostgreSQL has 40 MB, and every start and stop syncs it, which is free in memory and takes up to a second
on a busy disk.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder with a unique name is made in it
MEMORY_BYTES_MIN = 2**30


def memory_folder() -> Path | None:
    """Return the folder, or None if it is missing or lacks the space for clusters."""
    has_room = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > MEMORY_BYTES_MIN
    return MEMORY_FOLDER if has_room else None


def may_hold_programs(folder: Path) -> bool:
    """Return whether programs may be started from the folder, which containers forbid for theirs."""
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC
