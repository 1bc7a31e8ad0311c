"""The feed of events in the table `events`, and what receivers get of events.

The payloads are expressions over the columns of `events`, not functions of the database: a function that takes a row of
a table is not found on the nodes of a cluster, where the rows belong to its shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.events.events import EventType
from core.ids import first_id_since
from core.webhooks.events import FeedItem


def _payload(event_type: LiteralString, data: LiteralString) -> LiteralString:
    # Receivers get the keys always in this order.
    return f"""
        json_build_object(
            'id', e.id,
            'event', {event_type},
            'timestamp', to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'organization_id', nullif(e.organization_id, '00000000-0000-0000-0000-000000000000'),
            'actor_user_id', e.actor_user_id,
            'actor_email', e.actor_email,
            'data', {data})
    """


EVENT_PAYLOAD: Final = _payload("e.type", "e.data")


def delivery_payload(event_type: LiteralString) -> LiteralString:
    """Return the payload of a delivery of this type: of the event, or the sample of a test that is sent as another."""
    return _payload(event_type, f"CASE WHEN e.type = {event_type} THEN e.data ELSE e.data -> 'sample' END")


LAST_POSITION: Final = """
    SELECT coalesce((SELECT last_position FROM event_positions WHERE organization_id = %s),
                    -- Before the first one of its own.
                    (SELECT last_position FROM event_sequencing))
"""
PAGE: Final = f"""
    SELECT   position, {EVENT_PAYLOAD} AS payload
    FROM     events e
    WHERE    organization_id = %(organization_id)s AND id >= %(first_id)s
    AND      position > %(after)s
    AND      position <= %(last_position)s
    AND      (%(types)s::text[] IS NULL OR type = ANY (%(types)s))
    ORDER BY position
    LIMIT    %(limit)s
"""
LAST_READ: Final = """
    SELECT   position
    FROM     events
    WHERE    organization_id = %(organization_id)s AND id >= %(first_id)s
    AND      position > 0 AND position <= %(position)s
    AND      occurred_at <= %(read_at)s
    ORDER BY position DESC
    LIMIT    1
"""


class PostgresEventFeed(Aggregate):
    """The port `EventFeed`."""

    def page(
        self,
        organization_id: UUID,
        *,
        after: int,
        types: Sequence[EventType] | None,
        limit: int,
        kept_since: datetime,
    ) -> tuple[Sequence[FeedItem], int]:
        # The last position first: events that get theirs between the two statements are read with the next cursor.
        last_position = self._value(LAST_POSITION, (organization_id,))
        rows = self._rows(
            PAGE,
            {
                "organization_id": organization_id,
                "first_id": first_id_since(kept_since),
                "after": after,
                "last_position": last_position,
                "types": [event.value for event in types] if types is not None else None,
                "limit": limit,
            },
            # A prepared statement would be planned without the limit, for a tenth of the organization's events.
            prepare=False,
        )
        return [FeedItem(**row) for row in rows], last_position

    def last_read(self, organization_id: UUID, *, position: int, read_at: datetime, kept_since: datetime) -> int:
        found = self._values(
            LAST_READ,
            {
                "organization_id": organization_id,
                "first_id": first_id_since(kept_since),
                "position": position,
                "read_at": read_at,
            },
            prepare=False,
        )
        return found[0] if found else 0
