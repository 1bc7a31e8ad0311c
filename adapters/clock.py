"""The clock of a process: the machine's, until it jumps; from then on the last good time continues.

Two clocks are compared at every reading: the wall clock, which programs and people set, and the time since the machine
was started, which only goes on, also while the machine is suspended. When their difference has changed at once, the
wall clock has jumped, and it is not used until the database's clock confirms it (`actors/clock_watcher.py`). A clock
that is adjusted slowly, as by NTP, is followed.

A worker that replaces another one continues with the time that the others know (`SharedTime`): it has no past of its
own, and would believe a database whose clock has jumped.
"""

from __future__ import annotations

import mmap
import struct
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, final

from core.lazy_dataclasses import dataclass
from ports.clock import Comparison

_RECORD: Final = struct.Struct("<qqqq??")
_CHECKSUM: Final = struct.Struct("<I")
_PLACE_BYTES: Final = 64
_NANOSECONDS: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# More than NTP and waking up change at once, and less than what the lifetime of any code or token would notice.
JUMP_SECONDS_MAX: Final = 5
# From the database's clock, which is then the one that is right, unless it has jumped itself.
DIFFERENCE_SECONDS_MAX: Final = 10
# After the time was moved ahead by more than this, what expires is kept for so long, so that a mistake can be undone.
MOVED_SECONDS_MAX: Final = 600
SETTLING_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTime:
    """What a process knows; all values are nanoseconds since the start of the machine, or what is added to them."""

    noted_at: int
    offset: int
    """What is added to the time since the start."""
    database_offset: int | None
    """The same of the database's clock, when it agreed last; None when it has not been asked."""
    unsettled_until: int
    is_confirmed: bool
    """Whether the clocks of the machine and of the database have ever agreed."""


@final
class SharedTime:
    """What the workers of a server know of the time, in memory that a replaced one finds as its predecessors left it.

    The parent makes it before it starts them. A worker writes its own place alone, and one that is started reads the
    newest of all places. It may have been killed while it wrote, so what does not fit its checksum is not read.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._memory = mmap.mmap(-1, workers * _PLACE_BYTES)

    def note(self, worker: int, known: KnownTime) -> None:
        """Write what a worker knows."""
        has_asked = known.database_offset is not None
        record = _RECORD.pack(
            known.noted_at,
            known.offset,
            known.database_offset or 0,
            known.unsettled_until,
            has_asked,
            known.is_confirmed,
        )
        place = worker % self._workers * _PLACE_BYTES
        whole = record + _CHECKSUM.pack(zlib.crc32(record))
        self._memory[place : place + len(whole)] = whole

    def newest(self) -> KnownTime | None:
        """Return what was written last; None when nothing was."""
        found = [known for known in map(self._read, range(self._workers)) if known is not None]
        return max(found, key=lambda known: known.noted_at, default=None)

    def _read(self, worker: int) -> KnownTime | None:
        place = worker * _PLACE_BYTES
        record = self._memory[place : place + _RECORD.size]
        [checksum] = _CHECKSUM.unpack_from(self._memory, place + _RECORD.size)
        noted_at, offset, database_offset, unsettled_until, has_asked, is_confirmed = _RECORD.unpack(record)
        # Unwritten memory is zeros, which is no valid record: the checksum differs.
        if checksum != zlib.crc32(record):
            return None
        return KnownTime(
            noted_at=noted_at,
            offset=offset,
            database_offset=database_offset if has_asked else None,
            unsettled_until=unsettled_until,
            is_confirmed=is_confirmed,
        )


def _since_start() -> int:
    # Where there is no such clock, a machine that was suspended asks the database after it wakes up.
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic_ns() if boot_time is None else time.clock_gettime_ns(boot_time)


@final
class CheckedClock:
    """The port `WatchedClock`; safe to share between threads."""

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        since_start: Callable[[], int] = _since_start,
        *,
        shared: SharedTime | None = None,
        worker: int = 0,
    ) -> None:
        """Make the clock of a process; a worker's begins with the time in `shared`."""
        self._wall = wall
        self._since_start = since_start
        self._shared = shared
        self._worker = worker
        known = shared.newest() if shared is not None else None
        # What is added to the time since the start.
        self._offset = wall() - since_start() if known is None else known.offset
        # The same of the database's clock, when it agreed last.
        self._database_offset = None if known is None else known.database_offset
        # Until the clocks of the machine and of the database have agreed once, it is unknown which is right.
        self._is_confirmed = False if known is None else known.is_confirmed
        self._unsettled_until = since_start() if known is None else known.unsettled_until

    def __call__(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self.nanoseconds() // 1_000)

    def nanoseconds(self) -> int:
        """Return the current time in nanoseconds since 1970."""
        since_start = self._since_start()
        offset = self._wall() - since_start
        if abs(offset - self._offset) <= JUMP_SECONDS_MAX * _NANOSECONDS:
            self._offset = offset
        return since_start + self._offset

    def error_seconds(self) -> float:
        self.nanoseconds()
        return (self._wall() - self._since_start() - self._offset) / _NANOSECONDS

    def reading(self) -> int:
        return self._since_start()

    def is_settled(self) -> bool:
        return self._is_confirmed and self._since_start() >= self._unsettled_until

    def share(self) -> None:
        if self._shared is None:
            return
        known = KnownTime(
            noted_at=self._since_start(),
            offset=self._offset,
            database_offset=self._database_offset,
            unsettled_until=self._unsettled_until,
            is_confirmed=self._is_confirmed,
        )
        self._shared.note(self._worker, known)

    def compare(self, reading: int, database_time: datetime) -> Comparison:
        self.nanoseconds()
        before = self._offset
        now = self._since_start()
        wall = self._wall() - now
        database = (database_time - _EPOCH) // timedelta(microseconds=1) * 1_000
        # The database read its clock at some moment between our two readings.
        lowest, highest = database - now, database - reading

        def differs(offset: int) -> bool:
            return max(lowest - offset, offset - highest) > DIFFERENCE_SECONDS_MAX * _NANOSECONDS

        if not differs(wall):
            self._offset = wall
            self._is_confirmed = True
        elif differs(before) and (self._database_offset is None or not differs(self._database_offset)):
            # The database's clock has gone on evenly, so ours is wrong.
            self._offset = (lowest + highest) // 2
        is_agreed = not differs(self._offset)
        if is_agreed:
            self._database_offset = (lowest + highest) // 2
        if self._offset - before > MOVED_SECONDS_MAX * _NANOSECONDS:
            self._unsettled_until = now + SETTLING_SECONDS * _NANOSECONDS
        return Comparison(
            moved_seconds=(self._offset - before) / _NANOSECONDS,
            database_error_seconds=0.0 if is_agreed else ((lowest + highest) // 2 - self._offset) / _NANOSECONDS,
        )
