"""Reading work that has waited in the logs for long."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.platform.overlooked import LongWaiting, Turn


class OverlookedWork(Protocol):
    """The work that waits in the logs of all organizations."""

    def long_waiting(
        self, turn: Turn, *, before: datetime, entries_since: datetime, kept_since: datetime, limit: int
    ) -> Sequence[LongWaiting]:
        """Return the work that has waited since before a time, at most `limit` rows of each kind, in turn.

        Entries are read since `entries_since`, events and deliveries since `kept_since`. It is one statement.
        """
        ...
