"""Reading the feed of events."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.events.events import EventType
from core.webhooks.events import FeedItem


class EventFeed(Protocol):
    """Events in the order of their positions."""

    def page(
        self, organization_id: UUID, *, after: int, types: Sequence[EventType] | None, limit: int
    ) -> tuple[Sequence[FeedItem], int]:
        """Return events of an organization after a position, and the last position that was given to any event.

        Both are read at the same moment.
        """
        ...


class FeedWaiters(Protocol):
    """Requests that wait for the next events of the feed."""

    async def wait(self, seconds: float) -> None:
        """Return when events were handed on in this process, and after that time at the latest."""
        ...

    def wake(self) -> None:
        """Wake all requests that wait."""
        ...
