"""The sequencing of events: positions in the table `events`, the last one of each organization in `event_positions`.

An event waits with the position 0. `log_dues` says which organizations may have some; the platform's own are looked for
always. Statements on events name the organizations that they are for, and no other table, so that each goes to their
shards on a cluster. `event_sequencing` has the last position from the time when there was one for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any, Final, LiteralString, NamedTuple
from uuid import UUID

from adapters.postgres.announcing import ANNOUNCE_FEED
from adapters.postgres.driver.columns import array_of, array_of_times
from adapters.postgres.driver.connection import Cursor
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.new_deliveries import NewDelivery, make_deliveries
from core.events.events import EventType
from core.ids import LAST_ID, PLATFORM, first_id_since
from core.webhooks.sequencing import WaitingEvent, WaitingEvents
from ports.mailboxes import WorkKind

# Of how many organizations one transaction hands events on.
ORGANIZATIONS_MAX: Final = 100
_WAITS: Final = "position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s"

# The marked organizations in turn. The locks are held to the commit, so the positions of an organization are committed
# in their order. The platform has no mark.
DUE: Final = """
    WITH due AS MATERIALIZED (
        SELECT   organization_id, turn
        FROM     ((SELECT   organization_id, 1 AS turn
                   FROM     log_dues
                   WHERE    events AND organization_id > %(after)s
                   ORDER BY organization_id
                   LIMIT    %(organizations_max)s)
                  UNION ALL
                  SELECT %(platform)s::uuid, 2
                  UNION ALL
                  (SELECT   organization_id, 3
                   FROM     log_dues
                   WHERE    events AND organization_id <= %(after)s
                   ORDER BY organization_id
                   LIMIT    %(organizations_max)s)) AS marked
        ORDER BY turn, organization_id
        LIMIT    %(organizations_max)s + 1
    ), locked AS MATERIALIZED (
        SELECT organization_id, last_position
        FROM   event_positions
        WHERE  organization_id = ANY (ARRAY(SELECT organization_id FROM due))
        FOR    UPDATE SKIP LOCKED
    )
    SELECT   due.organization_id, locked.last_position, seen.organization_id IS NULL AS is_new,
             (SELECT backlog_before FROM event_sequencing) AS backlog_end
    FROM     due
    LEFT     JOIN locked ON locked.organization_id = due.organization_id
    LEFT     JOIN event_positions seen ON seen.organization_id = due.organization_id
    ORDER BY due.turn, due.organization_id
"""
# What waits of several organizations, in no order: read on when it is more than a batch.
WAITING: Final = f"""
    SELECT organization_id, id, type, occurred_at
    FROM   events
    WHERE  organization_id = ANY (%(organization_ids)s::uuid[]) AND {_WAITS}
    LIMIT  %(limit)s
"""


def _first_waiting(comparison: LiteralString) -> LiteralString:
    """Return the query of the first waiting events of an organization: those before the backlog's end, or since."""
    # With the value of one limit unknown, the planner would expect a tenth of all events that wait, so there is another
    # one, of more events than a batch has.
    return f"""
        SELECT   *
        FROM     (SELECT   organization_id, id, type, occurred_at
                  FROM     events
                  WHERE    organization_id = %(organization_id)s AND {_WAITS}
                  AND      occurred_at {comparison} %(backlog_end)s
                  ORDER BY occurred_at, id
                  LIMIT    1000) AS first
        ORDER BY occurred_at, id
        LIMIT    %(limit)s
    """


FIRST_WAITING: Final = f"({_first_waiting('>=')}) UNION ALL ({_first_waiting('<')})"
SUBSCRIBED: Final = """
    SELECT   organization_id, event_type, count(*) AS webhooks
    FROM     webhooks
    CROSS JOIN unnest(events) AS event_type
    WHERE    organization_id = ANY (%s::uuid[]) AND is_active
    GROUP BY organization_id, event_type
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
    RETURNING organization_id, last_position
"""
# On a cluster, an event that another transaction has just sequenced may seem to wait until the last node has committed;
# it is left out then, and its new position remains unused.
HAND_ON: Final = """
    UPDATE    events
    SET       position = given.position
    FROM      unnest(%(organization_ids)s::uuid[], %(event_ids)s::uuid[], %(positions)s::bigint[])
              AS given (organization_id, id, position)
    WHERE     events.organization_id = ANY (%(of)s::uuid[]) AND events.position = 0
    AND       events.organization_id = given.organization_id AND events.id = given.id
    -- For the planner: only the partitions of these ids.
    AND       events.id >= %(first_id)s AND events.id <= %(last_id)s
    RETURNING events.id
"""
ADVANCE: Final = """
    UPDATE event_positions
    SET    last_position = given.position
    FROM   unnest(%s::uuid[], %s::bigint[]) AS given (organization_id, position)
    WHERE  event_positions.organization_id = given.organization_id
"""
# A webhook that is deleted meanwhile gets nothing, and one that is locked here is not deleted before the commit.
RECEIVERS: Final = """
    SELECT   webhooks.organization_id, webhooks.id AS webhook_id, event.id AS event_id, event.type AS event_type,
             event.occurred_at
    FROM     unnest(%(organization_ids)s::uuid[], %(event_ids)s::uuid[], %(types)s::text[],
                    %(times)s::timestamptz[]) WITH ORDINALITY AS event (organization_id, id, type, occurred_at, number)
    JOIN     webhooks
             ON  webhooks.organization_id = event.organization_id
             AND webhooks.is_active
             AND webhooks.created_at <= event.occurred_at
             AND event.type = ANY (webhooks.events)
             -- The webhook that a test is for has its delivery already.
             AND event.type <> %(test)s
    ORDER BY event.number
    FOR      KEY SHARE OF webhooks
"""
# It skips those in which a transaction writes at this moment.
LOCK_MARKS: Final = """
    SELECT organization_id
    FROM   log_dues
    WHERE  organization_id = ANY (%s::uuid[]) AND events
    FOR    UPDATE SKIP LOCKED
"""
UNMARK: Final = "UPDATE log_dues SET events = false WHERE organization_id = ANY (%s::uuid[])"
MARK_OVERLOOKED: Final = """
    WITH overlooked AS MATERIALIZED (
        SELECT id
        FROM   organizations o
        WHERE  id = ANY (%s) AND NOT EXISTS (SELECT FROM log_dues d WHERE d.organization_id = o.id AND d.events)
        FOR    KEY SHARE
    )
    SELECT mark_due(id) FROM overlooked
"""


class _Due(NamedTuple):
    """An organization that may have waiting events: with a last position if it is locked here, new without a row."""

    organization_id: UUID
    last_position: int | None
    is_new: bool
    backlog_end: datetime


class _Found(NamedTuple):
    """A waiting event."""

    organization_id: UUID
    id: UUID
    type: str
    occurred_at: datetime


class PostgresEventSequencing(Aggregate):
    """The port `EventSequencing`."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        due = self._all(
            _Due,
            DUE,
            {
                "after": after if after is not None else LAST_ID,
                "platform": PLATFORM,
                "organizations_max": ORGANIZATIONS_MAX,
            },
        )
        if PLATFORM not in [one.organization_id for one in due[:ORGANIZATIONS_MAX]]:
            # Its turn comes after the other ones; it takes no place.
            due = due[:ORGANIZATIONS_MAX]
        turns = {one.organization_id: turn for turn, one in enumerate(due)}
        subscribed = self._connection.cursor().defer(SUBSCRIBED, (array_of(turns),))
        # A statement of its own: it sees events that were sequenced while the one above began.
        found, unfinished = self._found(due, limit, kept_since)
        webhooks = {(organization_id, event_type): number for organization_id, event_type, number in subscribed}
        positions = self._positions(due, {event.organization_id for event in found})
        backlog_end = due[0].backlog_end
        events = [
            WaitingEvent(
                id=event.id,
                organization_id=event.organization_id,
                type=event.type,
                occurred_at=event.occurred_at,
                is_old=event.occurred_at < backlog_end,
                webhooks=webhooks.get((event.organization_id, event.type), 0),
                last_position=positions[event.organization_id],
            )
            for event in found
            if event.organization_id in positions
        ]
        busy = {event.organization_id for event in found} - positions.keys()
        return WaitingEvents(
            events=sorted(events, key=lambda one: (turns[one.organization_id], one.is_old, one.occurred_at, one.id)),
            has_more=len(turns.keys() - {PLATFORM}) == ORGANIZATIONS_MAX or bool(unfinished),
            busy=len(busy),
            complete=[one for one in turns if one != PLATFORM and one not in busy and one not in unfinished],
            seen_until=due[-1].organization_id,
        )

    def assign_positions(self, events: Sequence[WaitingEvent]) -> None:
        numbers = {event.organization_id: count(event.last_position + 1) for event in events}
        positions = [next(numbers[event.organization_id]) for event in events]
        last_positions = dict(zip((event.organization_id for event in events), positions, strict=True))
        event_ids = [event.id for event in events]
        positioned = self._defer_values(
            HAND_ON,
            {
                "organization_ids": array_of(event.organization_id for event in events),
                "event_ids": array_of(event_ids),
                "positions": array_of(positions),
                "of": array_of(last_positions),
                "first_id": min(event_ids),
                "last_id": max(event_ids),
            },
        )
        self._connection.execute_later(ADVANCE, (array_of(last_positions), array_of(last_positions.values())))
        # For the requests of other processes that wait for events. No transaction of a request notifies.
        self._connection.execute_later(ANNOUNCE_FEED)
        made: Sequence[NewDelivery] = []
        if delivered := [event for event in events if event.webhooks]:
            receivers = self._all(
                self._new_delivery,
                RECEIVERS,
                {
                    "organization_ids": array_of(event.organization_id for event in delivered),
                    "event_ids": array_of(event.id for event in delivered),
                    "types": [event.type for event in delivered],
                    "times": array_of_times(event.occurred_at for event in delivered),
                    "test": EventType.WEBHOOK_TEST.value,
                },
            )
            given = set(positioned())
            made = [one for one in receivers if one.event_id in given]
        make_deliveries(self._transaction, made)

    def unmark(self, organization_ids: Sequence[UUID], *, kept_since: datetime) -> None:
        locked = self._defer_values(LOCK_MARKS, (array_of(organization_ids),))
        # A statement of its own: it sees what was committed before the marks were locked.
        waiting = self._some_waiting(organization_ids, len(organization_ids), kept_since)
        if waiting.rowcount < len(organization_ids):
            unmarked = set(locked()) - {organization_id for organization_id, *_ in waiting}
            if unmarked:
                self._connection.execute_later(UNMARK, (array_of(unmarked),))

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        if not organization_ids:
            return 0
        self._transaction.made_due.add(WorkKind.EVENTS)
        return self._connection.execute(MARK_OVERLOOKED, (list(organization_ids),)).rowcount

    def _found(self, due: Sequence[_Due], limit: int, kept_since: datetime) -> tuple[list[_Found], set[UUID]]:
        """Return the first waiting events of organizations, and those organizations that may have others."""
        some = self._some_waiting([one.organization_id for one in due], limit + 1, kept_since)
        if some.rowcount <= limit:
            return [_Found(*row) for row in some], set()
        # Twice an even share, because some of them, such as the platform, may have nothing.
        share = min(limit, max(1, 2 * limit // len(due)))
        reads = [
            self._defer_all(
                _Found,
                FIRST_WAITING,
                self._values_of(kept_since)
                | {"organization_id": one.organization_id, "backlog_end": one.backlog_end, "limit": share},
            )
            for one in due
        ]
        found = [event for read in reads for event in read()]
        counts = Counter((event.organization_id, event.occurred_at < due[0].backlog_end) for event in found)
        return found, {organization_id for (organization_id, _), number in counts.items() if number == share}

    def _some_waiting(
        self, organization_ids: Sequence[UUID], limit: int, kept_since: datetime
    ) -> Cursor[tuple[Any, ...]]:
        values = {"organization_ids": array_of(organization_ids), "limit": limit}
        return self._connection.cursor(binary=True).execute(WAITING, self._values_of(kept_since) | values)

    def _positions(self, due: Sequence[_Due], waiting: set[UUID]) -> dict[UUID, int]:
        """Return the last positions of the organizations that have waiting events and are locked here."""
        positions = {
            one.organization_id: one.last_position
            for one in due
            if one.last_position is not None and one.organization_id in waiting
        }
        if new := [one.organization_id for one in due if one.is_new and one.organization_id in waiting]:
            positions |= dict(self._all(_position, LOCK_NEW, (new,)))
        return positions

    def _values_of(self, kept_since: datetime) -> dict[str, Any]:
        return {"kept_since": kept_since, "first_id": first_id_since(kept_since)}

    def _new_delivery(
        self, organization_id: UUID, webhook_id: UUID, event_id: UUID, event_type: str, occurred_at: datetime
    ) -> NewDelivery:
        return NewDelivery(
            self._transaction.randomness.new_id(), organization_id, webhook_id, event_id, event_type, occurred_at
        )


def _position(organization_id: UUID, last_position: int) -> tuple[UUID, int]:
    return organization_id, last_position
