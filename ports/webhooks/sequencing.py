"""Giving positions to events."""

from datetime import datetime
from typing import Protocol


class EventSequencing(Protocol):
    """Hands events on, one transaction at a time."""

    def hand_on(self, limit: int, *, kept_since: datetime) -> int | None:
        """Give events without a position the next ones, and make a delivery for each active webhook that subscribes.

        Return how many events; None when another transaction does the same.
        """
        ...
