"""The times in the ids of rows: an id begins with the time when its row was written, so a time is a range of ids."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)
# Of no organization: the logs have it for what belongs to the platform itself.
PLATFORM: Final = FIRST_ID
MILLISECOND: Final = timedelta(milliseconds=1)
# RFC 9562, 5.7: the first 48 bits of a UUIDv7 are the milliseconds.
_MILLISECONDS_SHIFT: Final = 80
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def first_id_at(moment: datetime) -> UUID:
    """Return the lowest id that an entry of this moment can have; for a time before 1970 the first id."""
    milliseconds = (moment - _EPOCH) // MILLISECOND
    return UUID(int=max(milliseconds, 0) << _MILLISECONDS_SHIFT)


def moment_of(entry_id: UUID) -> datetime:
    """Return the time of the id of an entry, to the millisecond."""
    return _EPOCH + (entry_id.int >> _MILLISECONDS_SHIFT) * MILLISECOND
