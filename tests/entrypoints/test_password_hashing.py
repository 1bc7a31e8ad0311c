"""How many passwords a process hashes at once, by its processors and the workers beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrypoints import equipment
from entrypoints.settings import Settings


@pytest.mark.parametrize(("workers", "threads"), [(1, 4), (2, 4), (3, 4), (4, 1), (9, 1)])
def test_where_each_processor_has_a_worker_each_worker_hashes_on_one_thread(
    workers: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1, 2, 3})

    hasher = equipment.password_hasher(Settings(data_dir=tmp_path), workers=workers)

    assert hasher._threads._max_workers == hasher._places.total_tokens == threads
    # Workers take the slots of the machine.
    assert (tmp_path / "hashing").exists() == (workers > 1)
