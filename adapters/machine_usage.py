"""What this process uses, as the kernel counts it in `/proc`, and how much space the file system of a folder has.

A worker shares pages with its parent and the others: libraries, and the objects that existed before the fork. The
resident memory counts them in each, so the sum over the workers is more than they take; the proportional one divides
each page among its processes, so its sum is what they take.
"""

from __future__ import annotations

import re
import resource
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import trio

from ports.metrics_of_work import FolderSpace, ProcessUsage

# A file system over a network may not answer.
SECONDS_MAX: Final = 2.0
# Of its own, so that nothing else waits for it, and no more threads hang than one.
_THREADS: Final = trio.CapacityLimiter(1)
# Of its own, so that measuring waits for no other work.
THREADS: Final = trio.CapacityLimiter(1)
ROLLUP: Final = Path("/proc/self/smaps_rollup")
_LINE: Final = re.compile(r"^(Rss|Pss): +(\d+) kB$", re.MULTILINE)
_KILOBYTE: Final = 1024


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


async def process_usage() -> ProcessUsage:
    """Return what this process has used so far."""
    # The kernel walks all pages, which takes some milliseconds.
    return await trio.to_thread.run_sync(measured, limiter=THREADS)


def measured(rollup: Path = ROLLUP) -> ProcessUsage:
    """Return what this process has used so far; without the file of the kernel, the memory is the largest so far."""
    try:
        counted = _counted(rollup.read_text())
        return ProcessUsage(
            cpu_seconds=time.process_time(), resident_bytes=counted["Rss"], proportional_bytes=counted["Pss"]
        )
    except (OSError, KeyError):
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # In bytes on macOS, in kilobytes elsewhere.
        resident = largest if sys.platform == "darwin" else largest * _KILOBYTE
        return ProcessUsage(cpu_seconds=time.process_time(), resident_bytes=resident, proportional_bytes=None)


def _counted(rollup: str) -> Mapping[str, int]:
    return {name: int(kilobytes) * _KILOBYTE for name, kilobytes in _LINE.findall(rollup)}
