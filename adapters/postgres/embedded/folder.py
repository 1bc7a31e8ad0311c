"""The data folder: its creation, and the locks that show which processes use it.

The locks are the kernel's file locks (flock). A lock ends with the last process that has its descriptor open, kill -9
included, so there is no count that could be stale and no pid that another process could have by now. `server.py`
describes the locks of PostgreSQL; the lock of `gatehouse serve` is here.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

POLL_SECONDS = 0.01
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
# A folder of root lets PostgreSQL's user pass to the cluster inside, but not list the other files.
PASSABLE_FOLDER = 0o711


class DataFolderError(Exception):
    """The data folder, or something in it, cannot be used; the message says what to do."""


class AlreadyServing(DataFolderError):
    """Another process serves from the same data folder."""


def make_data_folder(folder: Path) -> None:
    """Create the folder if it is missing; an existing one keeps its owner and its permissions."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=PRIVATE_FOLDER)
    except FileExistsError:
        return
    if os.geteuid() == 0:
        folder.chmod(PASSABLE_FOLDER)


@contextmanager
def raising_data_folder_errors(folder: Path) -> Generator[None]:
    """Raise `DataFolderError` for errors of the operating system (permissions, a full or read-only disk)."""
    try:
        yield
    except OSError as error:
        raise DataFolderError(
            f"The data folder {folder} cannot be used: {error}. "
            "Start Gatehouse as the user who owns it, or choose another one with GATEHOUSE_DATA_DIR."
        ) from error


def poll_until(condition: Callable[[], bool], seconds_max: float) -> bool:
    """Wait until the condition holds, at most this long, and return whether it does."""
    deadline = time.monotonic() + seconds_max
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


class FileLock:
    """A lock on a file, held until it is released or until the last process that inherited it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    @property
    def descriptor(self) -> int:
        """The descriptor that a child process inherits to hold the lock together with this process, and after it."""
        assert self._descriptor is not None, "the lock is not held"
        return self._descriptor

    def acquire(self, *, shared: bool = False, seconds_max: float = 0.0) -> bool:
        """Take the lock, waiting at most this long, and return whether it was taken."""
        assert self._descriptor is None, "the lock is already held"
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        try:
            if poll_until(partial(_try_lock, descriptor, kind), seconds_max):
                self._descriptor = descriptor
        finally:
            if self._descriptor is None:
                os.close(descriptor)
        return self.is_held

    def release(self) -> None:
        """Close the descriptor. It does not unlock: a child that inherited the lock keeps it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class ServingLock:
    """The right to serve from a data folder, which one process has at a time; a context manager."""

    def __init__(self, data_folder: Path) -> None:
        self._folder = data_folder.resolve()
        self._path = self._folder / "serve.lock"
        self._lock = FileLock(self._path)

    def acquire(self) -> None:
        """Take the right to serve, or raise `AlreadyServing`."""
        with raising_data_folder_errors(self._folder):
            make_data_folder(self._folder)
            if not self._lock.acquire():
                process = self._path.read_text().strip() or "unknown"
                raise AlreadyServing(
                    f"Gatehouse already serves from {self._folder} (process {process}). "
                    "Stop that process first, or give this one a folder of its own with GATEHOUSE_DATA_DIR."
                )
            # For the message above only; the lock itself needs no pid, and takes no space on a full disk.
            with suppress(OSError):
                os.ftruncate(self._lock.descriptor, 0)
                os.pwrite(self._lock.descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process serve."""
        self._lock.release()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
