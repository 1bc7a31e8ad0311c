"""What waits in the logs for long."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.platform.overlooked import LongWaiting, Turn


class OverlookedWork(Protocol):
    """What waits in the logs of all organizations."""

    def long_waiting(
        self, turn: Turn, *, before: datetime, entries_since: datetime, kept_since: datetime, limit: int
    ) -> Sequence[LongWaiting]:
        """Return what waits since before a time, of each kind at most so many rows, in turn.

        Of entries, events and deliveries, those since the other times are looked at. It is one statement.
        """
        ...
