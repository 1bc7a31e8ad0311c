"""Positions in PostgreSQL's log of changes (WAL): where the primary is, and how far behind it a replica has been since.

The statement that reads the caller of a request tells the position of the primary, so that whatever the caller has
changed before is behind it. A replica that has replayed its log up to there shows all of that.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Final, NamedTuple

from adapters.postgres.driver.statements import TEXTS_MAX, Text

# A commit that was confirmed is flushed, unless the session does not wait for the disk. What others have begun to write
# is not, and no replica could have it yet. The first eight digits of a file's name are the timeline.
POSITION: Final = """
    SELECT left(pg_walfile_name(lsn), 8) || '/' || lsn
    FROM   (SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
                        ELSE pg_current_wal_flush_lsn() END AS lsn) AS present
"""
COLUMN: Final = "wal_position"
# The log consists of pages that begin with a header of one of two lengths. Where the next record would begin is behind
# the header of its page, and where the last one ended may be before it.
_PAGE_BYTES: Final = 8192
_HEADER_BYTES_MAX: Final = 40
# Some minutes of looks; a replica that is further behind is as far behind as that.
_MOMENTS_MAX: Final = 600


class Position(NamedTuple):
    """A place in the log of a timeline; each promotion of a standby begins a new timeline."""

    timeline: int
    offset: int

    @classmethod
    def of(cls, text: str) -> Position:
        """Return the position that `POSITION` names."""
        timeline, _, lsn = text.partition("/")
        offset = offset_of(lsn)
        # No record ends between a page's beginning and there unless it began on the page before, so a replica that has
        # come to the beginning of the page has replayed everything before the position.
        beyond = offset % _PAGE_BYTES
        return cls(int(timeline, 16), offset - beyond if beyond <= _HEADER_BYTES_MAX else offset)


def offset_of(lsn: str) -> int:
    """Return the bytes of log before a place in it, which PostgreSQL writes as `1/2A000028`."""
    high, _, low = lsn.partition("/")
    return int(high, 16) << 32 | int(low, 16)


@lru_cache(TEXTS_MAX)
def with_position(text: Text) -> bytes:
    """Return a statement with the position of the primary as one more column of each row."""
    written = text.decode() if isinstance(text, bytes) else text
    return f"SELECT found.*, ({POSITION}) AS {COLUMN} FROM ({written}) AS found".encode()


class Moments:
    """When the primary was at which position, as this process has seen it."""

    def __init__(self) -> None:
        self._moments: deque[tuple[float, Position]] = deque(maxlen=_MOMENTS_MAX)

    def add(self, at: float, position: Position) -> None:
        """Record the position of a moment; positions of another timeline are not comparable with it."""
        if self._moments and self._moments[-1][1].timeline != position.timeline:
            self._moments.clear()
        self._moments.append((at, position))

    def lag_seconds(self, replayed: int, *, at: float) -> float:
        """Return how long ago the primary was at the first noted position that is not replayed; 0 when all are."""
        return next((at - moment for moment, position in self._moments if position.offset > replayed), 0.0)
