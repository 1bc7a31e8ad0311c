"""What the core asks of storage to be rid of what counts no longer."""

from datetime import datetime
from typing import Protocol

from core.platform.housekeeping import Leftover


class Housekeeping(Protocol):
    """Deletes leftovers. Several who do so at once share the work and never wait for each other, or for anybody."""

    def delete(self, leftover: Leftover, ended_until: datetime, limit: int) -> int:
        """Delete those of a kind that had ended by that moment, the oldest first, at most `limit`; say how many."""
        ...
