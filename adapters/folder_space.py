"""How much space the file system of a folder has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import trio

from ports.metrics_of_work import FolderSpace

# A file system over a network may not answer.
SECONDS_MAX: Final = 2.0
# Of its own, so that nothing else waits for it, and no more threads hang than one.
_THREADS: Final = trio.CapacityLimiter(1)


async def folder_space(folder: Path) -> FolderSpace | None:
    """Return the space; None when that cannot be found out, or not in time."""
    with trio.move_on_after(SECONDS_MAX):
        return await trio.to_thread.run_sync(_measured, folder, limiter=_THREADS, abandon_on_cancel=True)
    return None


def _measured(folder: Path) -> FolderSpace | None:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return FolderSpace(free_bytes=usage.free, size_bytes=usage.total)
