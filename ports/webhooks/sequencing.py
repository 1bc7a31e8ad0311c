"""Giving positions to events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.webhooks.sequencing import WaitingEvent, WaitingEvents


class EventSequencing(Protocol):
    """Hands events on, those of an organization by one transaction at a time."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        """Return the first events without a position of organizations that have any, about `limit` in total.

        The organizations are in the order of their ids, those after the given one first, and each has an even share.
        No other transaction hands the events of these organizations on until this one ends. Organizations of which
        another one is doing so are left out, and counted.
        """
        ...

    def hand_on(self, events: Sequence[WaitingEvent]) -> None:
        """Give these events the next positions of their organizations, and make the deliveries to active webhooks."""
        ...
