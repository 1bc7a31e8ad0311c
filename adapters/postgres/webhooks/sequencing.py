"""The sequencing of events: positions in the table `events`, the last one of each organization in `event_positions`.

An event waits with the position 0. `event_sequencing` has the last position from the time when there was one for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final, LiteralString, NamedTuple
from uuid import UUID

from adapters.postgres.announcing import ANNOUNCE_FEED
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.new_deliveries import NewDelivery, make_deliveries
from core.events.events import EventType
from core.ids import FIRST_ID, LAST_ID, first_id_since
from core.webhooks.sequencing import WaitingEvent, WaitingEvents

# Of how many organizations one transaction hands events on.
ORGANIZATIONS_MAX: Final = 100
_WAITS: Final = "position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s"
# A scalar, because the planner takes a table for many rows until it is analyzed: it expects one value of a scalar.
_BACKLOG_END: Final = "(SELECT backlog_before FROM event_sequencing)"


def _first_waiting(comparison: LiteralString) -> LiteralString:
    """Return the query of the first waiting events of an organization: those before the backlog's end, or since."""
    # With the value of one limit unknown, the planner would expect a tenth of all events that wait, so there is another
    # one, of more events than a batch has.
    return f"""
        SELECT   *
        FROM     (SELECT   id, type, occurred_at, occurred_at < {_BACKLOG_END} AS is_old
                  FROM     events
                  WHERE    {_WAITS} AND organization_id = free.organization_id
                  AND      occurred_at {comparison} {_BACKLOG_END}
                  ORDER BY occurred_at, id
                  LIMIT    1000) AS first
        ORDER BY occurred_at, id
        LIMIT    (SELECT events FROM share)
    """


# Each step of the recursion finds the next organization in the index of waiting events, however many events each has.
# The locks are held to the commit, so the positions of an organization are committed in their order. What another
# transaction has handed on since this statement began still seems to wait, so that organization is left out as well.
WAITING: Final = f"""
    WITH RECURSIVE queues (organization_id, number) AS (
        (SELECT   organization_id, 1
         FROM     events
         WHERE    {_WAITS} AND organization_id >= %(first)s AND organization_id <= %(last)s
         ORDER BY organization_id, occurred_at
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, queues.number + 1
        FROM   queues
        CROSS JOIN LATERAL (
            SELECT   organization_id
            FROM     events
            WHERE    {_WAITS} AND organization_id > queues.organization_id AND organization_id <= %(last)s
            ORDER BY organization_id, occurred_at
            LIMIT    1) AS next
        WHERE  queues.number < %(organizations_max)s
    ), locked AS MATERIALIZED (
        SELECT organization_id, last_position
        FROM   event_positions
        WHERE  organization_id = ANY (ARRAY(SELECT organization_id FROM queues))
        FOR    UPDATE SKIP LOCKED
    ), free AS MATERIALIZED (
        SELECT queues.organization_id, seen.organization_id IS NULL AS is_new
        FROM   queues
        LEFT   JOIN event_positions seen ON seen.organization_id = queues.organization_id
        LEFT   JOIN locked ON locked.organization_id = queues.organization_id
        WHERE  seen.organization_id IS NULL OR locked.last_position = seen.last_position
    ), share AS (
        SELECT greatest(1, %(limit)s / greatest(1, count(*))) AS events FROM free
    )
    SELECT   queues.organization_id, free.is_new, share.events AS share, next.id, next.is_old,
             coalesce(subscribed.webhooks, 0) AS webhooks
    FROM     queues
    CROSS JOIN share
    LEFT     JOIN free ON free.organization_id = queues.organization_id
    LEFT     JOIN LATERAL (({_first_waiting(">=")}) UNION ALL ({_first_waiting("<")})) AS next ON true
    LEFT     JOIN (SELECT   organization_id, type, count(*) AS webhooks
                   FROM     webhooks
                   CROSS JOIN unnest(events) AS type
                   WHERE    organization_id = ANY (ARRAY(SELECT organization_id FROM queues)) AND is_active
                   GROUP BY organization_id, type) AS subscribed
             ON  subscribed.organization_id = queues.organization_id AND subscribed.type = next.type
    ORDER BY queues.number, next.is_old, next.occurred_at, next.id
"""
# The first event of an organization. An insertion waits for a transaction that has inserted the same row, or changes
# it; so only one transaction tries to, and only where there is no row.
LOCK_NEW: Final = """
    INSERT INTO event_positions (organization_id, last_position)
    SELECT    one.organization_id, (SELECT last_position FROM event_sequencing)
    FROM      unnest(%s::uuid[]) AS one (organization_id)
    WHERE     NOT EXISTS (SELECT FROM event_positions p WHERE p.organization_id = one.organization_id)
    AND       pg_try_advisory_xact_lock(hashtextextended('gatehouse.event_positions.' || one.organization_id, 0))
    ON CONFLICT DO NOTHING
    RETURNING organization_id
"""
HAND_ON: Final = """
    WITH batch AS MATERIALIZED (
        SELECT organization_id, id, row_number() OVER (PARTITION BY organization_id ORDER BY number) AS number
        -- For the planner: one plan for any number of events, as arrays from a query have no known length.
        FROM   unnest((SELECT %(organization_ids)s::uuid[]), (SELECT %(event_ids)s::uuid[]))
               WITH ORDINALITY AS one (organization_id, id, number)
    ), positioned AS (
        UPDATE    events
        SET       position = p.last_position + batch.number
        FROM      batch
        JOIN      event_positions p ON p.organization_id = batch.organization_id
        WHERE     events.organization_id = batch.organization_id AND events.id = batch.id
        -- For the planner: only the partitions of these ids.
        AND       events.id >= %(first_id)s AND events.id <= %(last_id)s
        RETURNING events.id, events.type, events.organization_id, events.occurred_at, events.position
    ), advanced AS (
        UPDATE event_positions
        SET    last_position = last_position + counted.events
        FROM   (SELECT organization_id, count(*) AS events FROM batch GROUP BY organization_id) AS counted
        WHERE  event_positions.organization_id = counted.organization_id
    )
    SELECT   positioned.organization_id, positioned.id AS event_id, webhooks.id AS webhook_id
    FROM     positioned
    JOIN     webhooks
             ON  webhooks.organization_id = positioned.organization_id
             AND webhooks.is_active
             AND webhooks.created_at <= positioned.occurred_at
             AND positioned.type = ANY (webhooks.events)
             -- The webhook that a test is for has its delivery already.
             AND positioned.type <> %(test)s
    ORDER BY positioned.organization_id, positioned.position
"""


class _Found(NamedTuple):
    """A waiting event of an organization, which has no events here while another transaction hands them on.

    An organization that `is_new` is not locked yet. `share` is how many events of each organization were looked for.
    """

    organization_id: UUID
    is_new: bool | None
    share: int
    id: UUID
    is_old: bool
    webhooks: int


class PostgresEventSequencing(Aggregate):
    """The port `EventSequencing`."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        found = self._found_in_turn(limit, after, kept_since)
        organizations = list(dict.fromkeys(one.organization_id for one in found))
        free = {one.organization_id for one in found if one.is_new is False}
        if new := {one.organization_id for one in found if one.is_new}:
            free |= set(self._values(LOCK_NEW, (list(new),)))
        counts = Counter((one.organization_id, one.is_old) for one in found)
        return WaitingEvents(
            events=[
                WaitingEvent(id=one.id, organization_id=one.organization_id, is_old=one.is_old, webhooks=one.webhooks)
                for one in found
                if one.organization_id in free
            ],
            has_more=len(organizations) == ORGANIZATIONS_MAX
            or any(counts[one.organization_id, one.is_old] == one.share for one in found),
            busy=len(organizations) - len(free),
            seen_until=organizations[-1] if organizations else None,
        )

    def hand_on(self, events: Sequence[WaitingEvent]) -> None:
        event_ids = [event.id for event in events]
        wanted = self._defer_all(
            self._new_delivery,
            HAND_ON,
            {
                "organization_ids": [event.organization_id for event in events],
                "event_ids": event_ids,
                "first_id": min(event_ids),
                "last_id": max(event_ids),
                "test": EventType.WEBHOOK_TEST.value,
            },
        )
        # For the requests of other processes that wait for events. No transaction of a request notifies.
        self._connection.execute_later(ANNOUNCE_FEED)
        if any(event.webhooks for event in events):
            make_deliveries(self._transaction, wanted())

    def _new_delivery(self, organization_id: UUID, event_id: UUID, webhook_id: UUID) -> NewDelivery:
        return NewDelivery(self._transaction.randomness.new_id(), organization_id, event_id, webhook_id)

    def _found_in_turn(self, limit: int, after: UUID | None, kept_since: datetime) -> list[_Found]:
        """Return what waits of organizations, those after the given one first."""
        if after is None:
            return self._found(FIRST_ID, LAST_ID, ORGANIZATIONS_MAX, limit, kept_since)
        found = self._found(UUID(int=after.int + 1), LAST_ID, ORGANIZATIONS_MAX, limit, kept_since)
        others_max = ORGANIZATIONS_MAX - len({one.organization_id for one in found})
        return found + (self._found(FIRST_ID, after, others_max, limit, kept_since) if others_max else [])

    def _found(self, first: UUID, last: UUID, organizations_max: int, limit: int, kept_since: datetime) -> list[_Found]:
        return self._all(
            _Found,
            WAITING,
            {
                "first": first,
                "last": last,
                "organizations_max": organizations_max,
                "limit": limit,
                "kept_since": kept_since,
                "first_id": first_id_since(kept_since),
            },
        )
