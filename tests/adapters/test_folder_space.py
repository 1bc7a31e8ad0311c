"""The space of the file system of a folder, as the system itself says."""

from __future__ import annotations

import os
from pathlib import Path

from adapters.machine_usage import folder_space


async def test_the_space_is_that_of_the_file_system(tmp_path: Path) -> None:
    space = await folder_space(tmp_path)

    assert space is not None
    system = os.statvfs(tmp_path)
    assert space.size_bytes == system.f_blocks * system.f_frsize
    assert 0 < space.free_bytes <= space.size_bytes


async def test_a_folder_that_has_gone_has_none(tmp_path: Path) -> None:
    assert await folder_space(tmp_path / "gone") is None
