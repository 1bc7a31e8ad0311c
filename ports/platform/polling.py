"""Finding the work that is due."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from core.billing.provider import BillingMode


class DueWork(Protocol):
    """The work that waits in the tables."""

    def next(
        self, *, now: datetime, events_since: datetime, mode: BillingMode, finds_seals: bool = True
    ) -> Mapping[str, datetime]:
        """Return from when on work is due, by the name of its kind, leaving out what is leased.

        Events that occurred before `events_since` are no longer delivered, and left out. Without `finds_seals`, so are
        audit entries that wait for their seal.
        """
        ...
