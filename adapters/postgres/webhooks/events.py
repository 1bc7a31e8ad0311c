"""The feed of events in the table `events`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.transaction import Aggregate
from core.webhooks.events import FeedItem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.events.events import EventType


class PostgresEventFeed(Aggregate):
    """The port `EventFeed`."""

    def page(
        self, organization_id: UUID, *, after: int, types: Sequence[EventType] | None, limit: int
    ) -> tuple[Sequence[FeedItem], int]:
        # The last position first: what is handed on between the two statements is read again with the next cursor.
        last_position = self._value("SELECT last_position FROM event_sequencing")
        rows = self._rows(
            """
            SELECT   position, event_payload(events) AS payload
            FROM     events
            WHERE    organization_id = %(organization_id)s
            AND      position > %(after)s
            AND      position <= %(last_position)s
            AND      (%(types)s::text[] IS NULL OR type = ANY (%(types)s))
            ORDER BY position
            LIMIT    %(limit)s
            """,
            {
                "organization_id": organization_id,
                "after": after,
                "last_position": last_position,
                "types": [event.value for event in types] if types is not None else None,
                "limit": limit,
            },
            # A prepared statement would be planned without the limit, for a tenth of the organization's events.
            prepare=False,
        )
        return [FeedItem(**row) for row in rows], last_position
