"""Ids as texts, and the times in them: the id of a row begins with the time of its writing, so a period is a range.

A log that is partitioned by the ids is read in the range of ids that rows of the wanted times can have.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from uuid import UUID

LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)
# The organization id of log entries that belong to the platform itself.
PLATFORM: Final = FIRST_ID
MILLISECOND: Final = timedelta(milliseconds=1)
_ID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# An id is made before its row is committed, clocks differ, and what waits for a second factor gets a later time.
SETTLES_AFTER: Final = timedelta(hours=1)
# The time of a row is at most this much before the time in its id.
CLOCKS_DIFFER_MAX: Final = timedelta(minutes=1)
# RFC 9562, 5.7: the first 48 bits of a UUIDv7 are the milliseconds.
_MILLISECONDS_SHIFT: Final = 80
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def id_or_none(text: str) -> UUID | None:
    """Return the id that a text is, in upper or lower case; None for a text that is no UUID."""
    # `UUID` by itself also accepts braces, a URN, and dashes anywhere, so that 32 digits of a slug would be an id.
    return UUID(text) if _ID.fullmatch(text) else None


def first_id_at(moment: datetime) -> UUID:
    """Return the lowest id that an entry of this moment can have; for a time before 1970 the first id."""
    milliseconds = (moment - _EPOCH) // MILLISECOND
    return UUID(int=max(milliseconds, 0) << _MILLISECONDS_SHIFT)


def first_id_since(moment: datetime) -> UUID:
    """Return the lowest id that a row of this time or a later one can have."""
    return UUID(int=max(first_id_at(moment).int - _in_ids(SETTLES_AFTER), 0))


def end_id_until(moment: datetime) -> UUID:
    """Return an id above all those that rows of this time or an earlier one can have."""
    return UUID(int=first_id_at(moment).int + _in_ids(CLOCKS_DIFFER_MAX + MILLISECOND))


def sure_first_id_since(moment: datetime) -> UUID:
    """Return the lowest id such that all rows from it on have this time or a later one."""
    return UUID(int=first_id_at(moment).int + _in_ids(CLOCKS_DIFFER_MAX + MILLISECOND))


def sure_end_id_until(moment: datetime) -> UUID:
    """Return the id below which every row is of a time before this one."""
    return UUID(int=max(first_id_at(moment).int - _in_ids(SETTLES_AFTER + MILLISECOND), 0))


def id_later(entry_id: UUID, duration: timedelta) -> UUID:
    """Return an id that is so much later, the last id at most."""
    return UUID(int=min(entry_id.int + _in_ids(duration), LAST_ID.int))


def first_id_after(entry_id: UUID) -> UUID:
    """Return the lowest id of a row that was written after the row with this id."""
    return UUID(int=max(entry_id.int - _in_ids(CLOCKS_DIFFER_MAX), 0))


def ids_of_days(start: date, end: date) -> tuple[UUID, UUID]:
    """Return the lowest id that rows of these days can have, and an id above all of theirs; days are in UTC."""
    return first_id_since(datetime.combine(start, time(), UTC)), end_id_until(datetime.combine(end, time.max, UTC))


def moment_of(entry_id: UUID) -> datetime:
    """Return the time of the id of an entry, to the millisecond."""
    return _EPOCH + (entry_id.int >> _MILLISECONDS_SHIFT) * MILLISECOND


def _in_ids(duration: timedelta) -> int:
    return duration // MILLISECOND << _MILLISECONDS_SHIFT
