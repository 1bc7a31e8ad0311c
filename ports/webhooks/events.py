"""Reading the feed of events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.events.events import EventType
from core.webhooks.events import FeedItem


class EventFeed(Protocol):
    """Events in the order of their positions."""

    def page(
        self,
        organization_id: UUID,
        *,
        after: int,
        types: Sequence[EventType] | None,
        limit: int,
        kept_since: datetime,
    ) -> tuple[Sequence[FeedItem], int]:
        """Return events of an organization after a position, and the last position of any of its events.

        Both are read at the same moment. Older events than those that are kept may be missing.
        """
        ...

    def last_read(self, organization_id: UUID, *, position: int, read_at: datetime, kept_since: datetime) -> int:
        """Return the last position up to this one of an event that had happened by then; 0 when there is none."""
        ...


class FeedWaiters(Protocol):
    """Requests that wait for the next events of the feed."""

    async def wait(self, seconds: float) -> None:
        """Return when events were added to the feed in this process, or after these seconds."""
        ...

    def wake(self) -> None:
        """Wake all requests that wait."""
        ...
