"""What receivers get of events: expressions over the columns of `events` (operations 2.7), always in this order.

They are no functions of the database, because what takes a row of a table is not found on the nodes of a cluster, where
the rows are those of its parts.
"""

from __future__ import annotations

from typing import Final, LiteralString


def _payload(event_type: LiteralString, data: LiteralString) -> LiteralString:
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


EVENT: Final = _payload("e.type", "e.data")


def delivery(event_type: LiteralString) -> LiteralString:
    """Return the payload of a delivery of this type: of the event, or the sample of a test that is sent as another."""
    return _payload(event_type, f"CASE WHEN e.type = {event_type} THEN e.data ELSE e.data -> 'sample' END")
