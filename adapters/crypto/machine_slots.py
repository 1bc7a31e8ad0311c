"""Slots that all processes of a machine share, so that together they do not exceed its processors.

A slot is a lock on a file, which the kernel releases when the process that holds it ends, however it ends
(ops/decisions/0016-workers-and-machine-slots.md).
"""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final

import structlog

log = structlog.get_logger(__name__)


@final
class MachineSlots:
    """At most `count` holders at a time among all processes that use the same folder.

    Where its files cannot be opened, as on a full or broken disk, no caller waits: sign-ins matter more than the limit.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        self._paths = [folder / f"slot-{number}" for number in range(count)]
        self._is_reported = False
        # What is wrong is said when a slot is taken.
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold a slot; block the thread until one is free."""
        descriptor = self._locked()
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _locked(self) -> int | None:
        # In random order, so that the threads that have to wait are spread over all slots.
        order = random.sample(self._paths, len(self._paths))
        try:
            return next(filter(None, map(_lock_at_once, order)), None) or _lock(order[0])
        except OSError as error:
            if not self._is_reported:
                log.warning("hashing.not_shared", folder=str(self._folder), reason=error.strerror)
            self._is_reported = True
            return None


def _lock_at_once(path: Path) -> int | None:
    try:
        return _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def _lock(path: Path, kind: int = fcntl.LOCK_EX) -> int:
    # Opened for each lock, because two locks on one open file description do not exclude each other.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
