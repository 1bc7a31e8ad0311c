"""Giving positions to events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.webhooks.sequencing import WaitingEvent, WaitingEvents


class EventSequencing(Protocol):
    """Gives positions to events; one transaction at a time does so for an organization."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        """Return the first events without a position of marked organizations and of the platform, about `limit`.

        The organizations are in the order of their ids, those after the given one first, and each has an even share.
        No other transaction gives positions to events of these organizations until this one ends. Organizations for
        which another transaction is doing so are left out, and counted.
        """
        ...

    def hand_on(self, events: Sequence[WaitingEvent]) -> None:
        """Give these events the next positions of their organizations, and make the deliveries to active webhooks."""
        ...

    def unmark(self, organization_ids: Sequence[UUID], *, kept_since: datetime) -> None:
        """Remove the marks of organizations in which no event waits and no transaction writes at this moment.

        Until this transaction ends, others that write events of these organizations wait.
        """
        ...

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not marked; return how many."""
        ...
