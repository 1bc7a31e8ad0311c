"""The lines of the log on their way out: written at once while they are read, and never waited for.

A slow reader, such as the log driver of a container whose disk is full, must not stop the writers. Lines that cannot be
written at once are kept, in order and up to a limit; a thread waits for the reader, so that callers need not. When the
limit is reached, lines about requests are dropped first, then the levels debug and info, and warnings and errors last.
Among lines of equal importance the first ones stay: they show how the trouble began.

How many were dropped is counted in memory that forked processes share, where each has a place of its own: a line is
dropped in the middle of whatever logs it, and by the parent of the workers too, which has no metrics.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from itertools import count
from typing import Final

from entrypoints.log_outlets import Outlet

# Some seconds of a busy process. Each line takes some hundred bytes besides its own.
LINES_MAX: Final = 8_192
BYTES_MAX: Final = 2 * 1024**2
# How long a process that ends waits for the reader of its last lines.
LAST_SECONDS_MAX: Final = 2.0
# How long the thread waits for a reader, or for space on a disk, before it tries again.
WAIT_SECONDS_MAX: Final = 1.0
# What waited is written in parts, between which others may log.
LINES_AT_ONCE_MAX: Final = 64
PAUSE_SECONDS: Final = 0.01
COUNT_BYTES: Final = 8
# The parent, or a process alone, has the first.
PLACES_MAX: Final = 256

# Takes how many lines were dropped, by level, and since when; returns the line that says so.
DropReport = Callable[[Mapping[str, int], datetime], bytes]


class Level(StrEnum):
    """How much a line of the log matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Rank(IntEnum):
    """In which order lines are dropped."""

    REQUEST = 0
    EVENT = 1
    PROBLEM = 2

    @classmethod
    def of(cls, level: Level, *, is_request: bool) -> Rank:
        """Return the rank of a line: a problem of a request is a problem."""
        if level in {Level.WARNING, Level.ERROR}:
            return cls.PROBLEM
        return cls.REQUEST if is_request else cls.EVENT


class KeptLines:
    """Lines that wait to be written, in the order in which they came."""

    def __init__(self, *, lines_max: int = LINES_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._lines_max = lines_max
        self._bytes_max = bytes_max
        self._numbers = count()
        self._of_rank = tuple(deque[tuple[int, Level, bytes]]() for _ in Rank)
        self._lines = self._bytes = 0

    def __len__(self) -> int:
        return self._lines

    def add(self, data: bytes, level: Level, rank: Rank) -> list[Level]:
        """Keep a line at the end; return the levels of the lines that were dropped for it, or its own."""
        dropped: list[Level] = []
        while self._lines >= self._lines_max or self._bytes + len(data) > self._bytes_max:
            below = next((lines for lines in self._of_rank[:rank] if lines), None)
            if below is None:
                return [*dropped, level]
            _, level_below, line = below.pop()
            self._forget(line)
            dropped.append(level_below)
        self._of_rank[rank].append((next(self._numbers), level, data))
        self._lines += 1
        self._bytes += len(data)
        return dropped

    def first(self) -> bytes:
        """Return the line that came first."""
        return self._first()[0][2]

    def remove_first(self) -> Level:
        """Remove the line that came first, and return its level."""
        _, level, line = self._first().popleft()
        self._forget(line)
        return level

    def _first(self) -> deque[tuple[int, Level, bytes]]:
        return min((lines for lines in self._of_rank if lines), key=lambda lines: lines[0][0])

    def _forget(self, line: bytes) -> None:
        self._lines -= 1
        self._bytes -= len(line)


class LogLines:
    """Writes each line with one system call, so that the lines of several processes do not mix."""

    def __init__(
        self, outlet: Outlet, *, report_dropped: DropReport, dropped: DroppedLines, kept: KeptLines | None = None
    ) -> None:
        self._outlet = outlet
        self._report_dropped = report_dropped
        self._dropped = dropped
        self._kept = KeptLines() if kept is None else kept
        # Reentrant, because what the garbage collector ends may log while its thread writes a line.
        self._lock = threading.RLock()
        # The rest of a line that was written in part.
        self._rest = b""
        # Dropped lines that are not reported yet.
        self._unreported: dict[str, int] = {}
        self._unreported_since: datetime | None = None
        # Whether anything of these three is there.
        self._is_behind = False
        self._is_catching_up = False
        self._may_have_thread = self._has_thread = False

    def put(self, data: bytes, level: Level, rank: Rank) -> None:
        """Write a line, with its end, or keep it for later; never wait for a reader, and never fail."""
        with self._lock:
            if self._is_behind and not self._caught_up():
                self._keep(data, level, rank)
                return
            taken = self._outlet.send(data)
            if taken == len(data):
                return
            if not taken:
                self._keep(data, level, rank)
            else:
                self._rest = data[taken:]
                self._fall_behind()

    def catch_up(self) -> None:
        """Write some of the waiting lines; for a process that may have no thread, which calls this again and again."""
        if self._is_behind:
            with self._lock:
                self._caught_up()

    def finish(self, seconds_max: float = LAST_SECONDS_MAX) -> None:
        """Write the waiting lines before the process ends, for at most this time; the rest counts as dropped."""
        deadline = time.monotonic() + seconds_max
        while self._is_behind and (left_seconds := deadline - time.monotonic()) > 0:
            with self._lock:
                if self._write_some():
                    return
            if not self._outlet.wait(left_seconds):
                break
            time.sleep(PAUSE_SECONDS)
        with self._lock:
            while self._kept:
                self._dropped.add(self._kept.remove_first())

    def allow_thread(self) -> None:
        """Let a thread wait for the reader from now on; a process that forks others must not have one."""
        self._may_have_thread = True

    def renew(self) -> None:
        """Forget what belongs to the process from which this one was forked."""
        self._lock = threading.RLock()
        self._outlet.renew()
        while self._kept:
            self._kept.remove_first()
        self._rest, self._unreported, self._unreported_since = b"", {}, None
        self._is_behind = self._has_thread = False

    def _keep(self, data: bytes, level: Level, rank: Rank) -> None:
        for each in self._kept.add(data, level, rank):
            self._dropped.add(each)
            self._unreported[each.value] = self._unreported.get(each.value, 0) + 1
            self._unreported_since = self._unreported_since or datetime.now(UTC)
        self._fall_behind()

    def _fall_behind(self) -> None:
        self._is_behind = True
        if self._may_have_thread and not self._has_thread:
            # If the system has no thread to spare, the next log line tries again.
            with suppress(RuntimeError):
                threading.Thread(target=self._wait_and_write, name="log", daemon=True).start()
                self._has_thread = True

    def _wait_and_write(self) -> None:
        """Wait for the reader on behalf of all callers, until every kept line is written."""
        while True:
            with self._lock:
                if self._write_some():
                    self._has_thread = False
                    return
            time.sleep(PAUSE_SECONDS if self._outlet.wait(WAIT_SECONDS_MAX) else WAIT_SECONDS_MAX)

    def _caught_up(self) -> bool:
        """Return whether nothing waits; write it first, where no other does that."""
        return not self._has_thread and not self._is_catching_up and self._write_some()

    def _write_some(self) -> bool:
        """Write some waiting lines, and after the first one how many were dropped; return whether none is left."""
        self._is_catching_up, is_taken = True, not self._kept
        for _ in range(LINES_AT_ONCE_MAX):
            if self._rest:
                is_taken = self._take(self._rest)
            elif self._unreported_since is not None and is_taken:
                # It may be shorter than the waiting lines, and fit into a full pipe.
                if is_taken := self._take(self._report_dropped(self._unreported, self._unreported_since)):
                    self._unreported, self._unreported_since = {}, None
            elif self._kept:
                if is_taken := self._take(self._kept.first()):
                    self._kept.remove_first()
            else:
                self._is_behind = False
                break
            if not is_taken:
                break
        self._is_catching_up = False
        return not self._is_behind

    def _take(self, data: bytes) -> bool:
        """Write a line, or the rest of one, to the outlet; return whether the outlet has taken any of it."""
        taken = self._outlet.send(data)
        if taken:
            self._rest = data[taken:]
        return bool(taken)


def print_within(outlet: Outlet, data: bytes, seconds_max: float = LAST_SECONDS_MAX) -> None:
    """Let the outlet take the bytes, or as much of them as it takes in this time."""
    deadline = time.monotonic() + seconds_max
    while data := data[outlet.send(data) :]:
        left_seconds = deadline - time.monotonic()
        if left_seconds <= 0 or not outlet.wait(left_seconds):
            return
        time.sleep(PAUSE_SECONDS)


class DroppedLines:
    """The counts; each process writes in its own place alone."""

    def __init__(self) -> None:
        self._counts = {level: memoryview(mmap.mmap(-1, PLACES_MAX * COUNT_BYTES)).cast("Q") for level in Level}
        self._place = 0

    def take_place_of(self, worker: int) -> None:
        """Count for this worker from now on; a replacement continues the counts of the worker before."""
        # With more workers than places, workers that share one may miss a count.
        self._place = 1 + worker % (PLACES_MAX - 1)

    def add(self, level: Level, lines: int = 1) -> None:
        """Count dropped lines."""
        self._counts[level][self._place] += lines

    def by_level(self) -> Mapping[str, int]:
        """Return the counts of all processes so far."""
        return {level.value: sum(counts) for level, counts in self._counts.items()}
