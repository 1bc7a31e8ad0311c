"""What a process uses: by the files of the kernel, and where there are none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adapters.machine_usage import ROLLUP, measured, process_usage


@pytest.mark.skipif(not ROLLUP.exists(), reason="this system has no /proc/self/smaps_rollup")
async def test_the_kernel_tells_what_this_process_uses() -> None:
    before = await process_usage()
    held = bytes(range(256)) * 200_000
    after = await process_usage()

    assert after.resident_bytes - before.resident_bytes > len(held) / 2
    assert after.proportional_bytes is not None
    assert 0 < after.proportional_bytes <= after.resident_bytes
    assert after.cpu_seconds > before.cpu_seconds > 0


def test_the_numbers_of_the_kernel_are_kilobytes(tmp_path: Path) -> None:
    rollup = tmp_path / "smaps_rollup"
    rollup.write_text("0-1 ---p 0 0:0 0 [rollup]\nRss:   98880 kB\nPss:   97441 kB\nPss_Dirty:   76292 kB\n")

    usage = measured(rollup)

    assert (usage.resident_bytes, usage.proportional_bytes) == (98880 * 1024, 97441 * 1024)


@pytest.mark.parametrize("content", [None, "Rss:   98880 kB\n"])
def test_without_the_file_of_the_kernel_the_memory_is_the_largest_so_far(tmp_path: Path, content: str | None) -> None:
    rollup = tmp_path / "smaps_rollup"
    if content is not None:
        rollup.write_text(content)

    usage = measured(rollup)

    assert usage.proportional_bytes is None
    # An interpreter takes some megabytes and no terabyte, whatever the unit of the system.
    assert sys.getsizeof("") < 2**20 < usage.resident_bytes < 2**40
