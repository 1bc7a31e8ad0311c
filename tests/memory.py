"""A folder in memory for what tests write: clusters, databases, logs and whatever else is gone with the run.

A cluster of PostgreSQL is 40 MB and is synced to the disk by every start and stop, which costs nothing in memory and up
to a second on a disk that others use as well.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder with a name of its own is made in it
MEMORY_BYTES_MIN = 2**30


def memory_folder() -> Path | None:
    """Give the folder, where there is one with room for clusters."""
    has_room = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > MEMORY_BYTES_MIN
    return MEMORY_FOLDER if has_room else None


def may_hold_programs(folder: Path) -> bool:
    """Say whether programs may be started from there, which containers forbid for theirs."""
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC
