"""Reports of what may happen a thousand times a minute: the first at once, the next at intervals, with a count."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

SECONDS_MIN: Final = 10.0
# More kinds than one place in the code tells apart; beyond them, counting begins anew.
KINDS_MAX: Final = 256


class SpacedReports:
    """Counts what happens, kind by kind, and says when it is to be reported."""

    def __init__(self, seconds_min: float = SECONDS_MIN) -> None:
        self._seconds_min = seconds_min
        # For each kind: when it was reported last, and how often it has happened since.
        self._kinds: dict[Hashable, tuple[float, int]] = {}

    def count(self, now: float, kind: Hashable = None) -> int | None:
        """Count one at this moment of a clock that only goes forward.

        Return how often it has happened since the last report, this time included, if it is to be reported now;
        otherwise None.
        """
        reported_at, times = self._kinds.get(kind, (now - self._seconds_min, 0))
        if now - reported_at < self._seconds_min:
            self._kinds[kind] = reported_at, times + 1
            return None
        if kind not in self._kinds and len(self._kinds) >= KINDS_MAX:
            self._kinds.clear()
        self._kinds[kind] = now, 0
        return times + 1
