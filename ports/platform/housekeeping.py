"""Deleting expired rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.platform.housekeeping import Leftover


class Housekeeping(Protocol):
    """Deletes leftovers. Concurrent transactions share the work and never wait for each other or for other locks."""

    def delete(self, leftover: Leftover, ended_until: datetime, limit: int) -> int:
        """Delete at most `limit` rows that had expired by that moment, the oldest first; return how many."""
        ...

    def overdue(self, ended_until: Mapping[Leftover, datetime]) -> Sequence[Leftover]:
        """Return the kinds of which rows exist that had expired by the moment given for the kind."""
        ...
