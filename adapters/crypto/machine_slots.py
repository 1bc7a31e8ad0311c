"""Slots that all processes of a machine share, so that together they do not exceed its processors.

A slot is a lock on a file, which the kernel releases when the process that holds it ends, however it ends
(ops/decisions/0016-workers-and-machine-slots.md).
"""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import final


@final
class MachineSlots:
    """At most `count` holders at a time among all processes that use the same folder."""

    def __init__(self, folder: Path, count: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._paths = [folder / f"slot-{number}" for number in range(count)]

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold a slot; block the thread until one is free."""
        # In random order, so that the threads that have to wait are spread over all slots.
        order = random.sample(self._paths, len(self._paths))
        descriptor = next(filter(None, map(_lock_at_once, order)), None) or _lock(order[0])
        try:
            yield
        finally:
            os.close(descriptor)


def _lock_at_once(path: Path) -> int | None:
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _lock(path: Path) -> int:
    descriptor = _opened(path)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _opened(path: Path) -> int:
    # Opened for each lock, because two locks on one open file description do not exclude each other.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
