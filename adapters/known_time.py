"""What the workers of a server know of the time, in memory that a replaced one finds as its predecessors left it.

The parent makes it before it starts them. A worker writes its own place alone, and one that is started reads the newest
of all places. It may have been killed while it wrote, so what does not fit its checksum is not read.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from typing import Final, final

from core.lazy_dataclasses import dataclass

_RECORD: Final = struct.Struct("<qqqq??")
_CHECKSUM: Final = struct.Struct("<I")
_PLACE_BYTES: Final = 64


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
    """The places of so many workers."""

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
