"""Giving positions to events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.webhooks.sequencing import WaitingEvents


class EventSequencing(Protocol):
    """Hands events on, one transaction at a time."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents | None:
        """Return the first events without a position of organizations that have any, about `limit` in total.

        The organizations are in the order of their ids, those after the given one first, and each has an even share.
        No other transaction hands events on until this one ends; None when another one is doing so.
        """
        ...

    def hand_on(self, event_ids: Sequence[UUID]) -> None:
        """Give these events the next positions, and make a delivery for each active webhook that subscribes."""
        ...
