"""The sequencing of events: positions in the table `events`, the last one of each organization in `event_positions`.

An event waits with the position 0. `event_sequencing` has the last position from the time when there was one for all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.announcing import ANNOUNCE_FEED
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.new_deliveries import NewDelivery, make_deliveries
from core.events.events import EventType
from core.ids import FIRST_ID, first_id_since
from core.webhooks.sequencing import WaitingEvent, WaitingEvents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

# Of how many organizations one transaction hands events on.
ORGANIZATIONS_MAX: Final = 100
# Each step finds the next organization in the index of waiting events, however many events each has.
ORGANIZATIONS: Final = """
    WITH RECURSIVE queues (organization_id, number) AS (
        (SELECT   organization_id, 1
         FROM     events
         WHERE    position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s
         AND      organization_id >= %(first)s
         ORDER BY organization_id, occurred_at
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, queues.number + 1
        FROM   queues
        CROSS JOIN LATERAL (
            SELECT   organization_id
            FROM     events
            WHERE    position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s
            AND      organization_id > queues.organization_id
            ORDER BY organization_id, occurred_at
            LIMIT    1) AS next
        WHERE  queues.number < %(organizations_max)s)
    SELECT organization_id FROM queues ORDER BY number
"""
# The lock is held to the commit, so the positions of an organization are committed in their order.
LOCK: Final = """
    SELECT organization_id FROM event_positions WHERE organization_id = ANY (%s) FOR UPDATE SKIP LOCKED
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
WAITING: Final = """
    SELECT   next.id, queues.organization_id, next.is_old, coalesce(subscribed.webhooks, 0) AS webhooks
    FROM     unnest(%(organization_ids)s::uuid[]) WITH ORDINALITY AS queues (organization_id, number)
    CROSS JOIN event_sequencing s
    CROSS JOIN LATERAL (
        (SELECT   id, type, occurred_at, false AS is_old
         FROM     events
         WHERE    position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s
         AND      occurred_at >= s.backlog_before AND organization_id = queues.organization_id
         ORDER BY occurred_at, id
         LIMIT    %(share)s)
        UNION ALL
        (SELECT   id, type, occurred_at, true AS is_old
         FROM     events
         WHERE    position = 0 AND occurred_at > %(kept_since)s AND id >= %(first_id)s
         AND      occurred_at < s.backlog_before AND organization_id = queues.organization_id
         ORDER BY occurred_at, id
         LIMIT    %(share)s)) AS next
    LEFT     JOIN (SELECT   organization_id, type, count(*) AS webhooks
                   FROM     webhooks
                   CROSS JOIN unnest(events) AS type
                   WHERE    organization_id = ANY (%(organization_ids)s) AND is_active
                   GROUP BY organization_id, type) AS subscribed
             ON  subscribed.organization_id = queues.organization_id AND subscribed.type = next.type
    ORDER BY queues.number, next.is_old, next.occurred_at, next.id
"""
HAND_ON: Final = """
    WITH batch AS MATERIALIZED (
        SELECT organization_id, id, row_number() OVER (PARTITION BY organization_id ORDER BY number) AS number
        FROM   unnest(%(organization_ids)s::uuid[], %(event_ids)s::uuid[])
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


class PostgresEventSequencing(Aggregate):
    """The port `EventSequencing`."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        values = {
            "kept_since": kept_since,
            "first_id": first_id_since(kept_since),
        }
        found = self._organizations(after, values)
        locked = self._locked(found)
        events = self._waiting(locked, max(1, limit // len(locked)), values) if locked else WaitingEvents.none()
        return replace(
            events,
            has_more=events.has_more or len(found) == ORGANIZATIONS_MAX,
            busy=len(found) - len(locked),
            seen_until=found[-1] if found else None,
        )

    def hand_on(self, events: Sequence[WaitingEvent]) -> None:
        event_ids = [event.id for event in events]
        rows = self._rows(
            HAND_ON,
            {
                "organization_ids": [event.organization_id for event in events],
                "event_ids": event_ids,
                "first_id": min(event_ids),
                "last_id": max(event_ids),
                "test": EventType.WEBHOOK_TEST.value,
            },
            prepare=False,
        )
        # For the requests of other processes that wait for events. No transaction of a request notifies.
        self._connection.execute_later(ANNOUNCE_FEED)
        new_id = self._transaction.randomness.new_id
        make_deliveries(
            self._transaction,
            [NewDelivery(new_id(), row["organization_id"], row["event_id"], row["webhook_id"]) for row in rows],
        )

    def _waiting(self, organization_ids: Sequence[UUID], share: int, values: Mapping[str, object]) -> WaitingEvents:
        events = self._all(
            WaitingEvent,
            WAITING,
            {"organization_ids": organization_ids, "share": share, **values},
            # A prepared statement would be planned without the limit, for a tenth of all events that wait.
            prepare=False,
        )
        found = Counter((event.organization_id, event.is_old) for event in events)
        return WaitingEvents(events=events, has_more=any(count == share for count in found.values()))

    def _locked(self, organization_ids: list[UUID]) -> list[UUID]:
        """Return those of the organizations whose events no other transaction hands on, in their order."""
        if not organization_ids:
            return []
        locked = set(self._values(LOCK, (organization_ids,)))
        if others := [organization_id for organization_id in organization_ids if organization_id not in locked]:
            locked |= set(self._values(LOCK_NEW, (others,)))
        return [organization_id for organization_id in organization_ids if organization_id in locked]

    def _organizations(self, after: UUID | None, values: Mapping[str, object]) -> list[UUID]:
        """Return organizations with waiting events, those after the given one first."""
        if after is None:
            return self._organizations_from(FIRST_ID, ORGANIZATIONS_MAX, values)
        found = self._organizations_from(UUID(int=after.int + 1), ORGANIZATIONS_MAX, values)
        before = self._organizations_from(FIRST_ID, ORGANIZATIONS_MAX - len(found), values)
        return found + [organization_id for organization_id in before if organization_id <= after]

    def _organizations_from(self, first: UUID, organizations_max: int, values: Mapping[str, object]) -> list[UUID]:
        if not organizations_max:
            return []
        return self._values(
            ORGANIZATIONS, {"first": first, "organizations_max": organizations_max, **values}, prepare=False
        )
