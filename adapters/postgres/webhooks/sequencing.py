"""The sequencing of events: positions in the table `events`, the last one in `event_sequencing`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.announcing import ANNOUNCE_FEED
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.deliveries import make_deliveries
from core.events.events import EventType
from core.webhooks.sequencing import WaitingEvent, WaitingEvents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

# Of how many organizations one transaction hands events on.
ORGANIZATIONS_MAX: Final = 100
# Each step finds the next organization in the index of waiting events, however many events each has.
ORGANIZATIONS: Final = """
    WITH RECURSIVE queues (organization_id, number) AS (
        (SELECT   coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), 1
         FROM     events
         WHERE    position IS NULL AND occurred_at > %(kept_since)s
         AND      coalesce(organization_id, '00000000-0000-0000-0000-000000000000') >= %(first)s
         ORDER BY coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), occurred_at
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, queues.number + 1
        FROM   queues
        CROSS JOIN LATERAL (
            SELECT   coalesce(organization_id, '00000000-0000-0000-0000-000000000000') AS organization_id
            FROM     events
            WHERE    position IS NULL AND occurred_at > %(kept_since)s
            AND      coalesce(organization_id, '00000000-0000-0000-0000-000000000000') > queues.organization_id
            ORDER BY coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), occurred_at
            LIMIT    1) AS next
        WHERE  queues.number < %(organizations_max)s)
    SELECT organization_id FROM queues ORDER BY number
"""
WAITING: Final = """
    SELECT   next.id, queues.organization_id, next.is_old, coalesce(subscribed.webhooks, 0) AS webhooks
    FROM     unnest(%(organization_ids)s::uuid[]) WITH ORDINALITY AS queues (organization_id, number)
    CROSS JOIN LATERAL (
        (SELECT   id, type, occurred_at, false AS is_old
         FROM     events
         WHERE    position IS NULL AND occurred_at > %(kept_since)s AND occurred_at >= %(backlog_before)s
         AND      coalesce(organization_id, '00000000-0000-0000-0000-000000000000') = queues.organization_id
         ORDER BY occurred_at, id
         LIMIT    %(share)s)
        UNION ALL
        (SELECT   id, type, occurred_at, true AS is_old
         FROM     events
         WHERE    position IS NULL AND occurred_at > %(kept_since)s AND occurred_at < %(backlog_before)s
         AND      coalesce(organization_id, '00000000-0000-0000-0000-000000000000') = queues.organization_id
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
_FIRST: Final = UUID(int=0)


class PostgresEventSequencing(Aggregate):
    """The port `EventSequencing`."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents | None:
        # The lock on this row is held to the commit, so positions are committed in their order.
        sequencing = self._row("SELECT backlog_before FROM event_sequencing FOR UPDATE SKIP LOCKED")
        if sequencing is None:
            return None
        organization_ids = self._organizations(after, kept_since)
        if not organization_ids:
            return WaitingEvents(events=[], has_more=False)
        share = max(1, limit // len(organization_ids))
        events = self._all(
            WaitingEvent,
            WAITING,
            {"organization_ids": organization_ids, "share": share, "kept_since": kept_since, **sequencing},
            # A prepared statement would be planned without the limit, for a tenth of all events that wait.
            prepare=False,
        )
        found = Counter((event.organization_id, event.is_old) for event in events)
        return WaitingEvents(
            events=events,
            has_more=len(organization_ids) == ORGANIZATIONS_MAX or any(count == share for count in found.values()),
        )

    def hand_on(self, event_ids: Sequence[UUID]) -> None:
        rows = self._rows(
            """
            WITH batch AS MATERIALIZED (
                SELECT id, number FROM unnest(%(event_ids)s::uuid[]) WITH ORDINALITY AS one (id, number)
            ), positioned AS (
                UPDATE    events
                SET       position = last_position + batch.number
                FROM      batch, event_sequencing
                WHERE     events.id = batch.id
                RETURNING events.id, type, organization_id, occurred_at, position
            ), advanced AS (
                UPDATE event_sequencing SET last_position = last_position + cardinality(%(event_ids)s::uuid[])
            )
            SELECT   positioned.id AS event_id, webhooks.id AS webhook_id
            FROM     positioned
            JOIN     webhooks
                     ON  webhooks.organization_id = positioned.organization_id
                     AND webhooks.is_active
                     AND webhooks.created_at <= positioned.occurred_at
                     AND positioned.type = ANY (webhooks.events)
                     -- The webhook that a test is for has its delivery already.
                     AND positioned.type <> %(test)s
            ORDER BY positioned.position
            """,
            {"event_ids": list(event_ids), "test": EventType.WEBHOOK_TEST.value},
            prepare=False,
        )
        # For the requests of other processes that wait for events. No transaction of a request notifies.
        self._connection.execute_later(ANNOUNCE_FEED)
        new_id = self._transaction.randomness.new_id
        make_deliveries(self._transaction, [(new_id(), row["event_id"], row["webhook_id"]) for row in rows])

    def _organizations(self, after: UUID | None, kept_since: datetime) -> list[UUID]:
        """Return organizations with waiting events, those after the given one first."""
        if after is None:
            return self._organizations_from(_FIRST, ORGANIZATIONS_MAX, kept_since)
        found = self._organizations_from(UUID(int=after.int + 1), ORGANIZATIONS_MAX, kept_since)
        before = self._organizations_from(_FIRST, ORGANIZATIONS_MAX - len(found), kept_since)
        return found + [organization_id for organization_id in before if organization_id <= after]

    def _organizations_from(self, first: UUID, organizations_max: int, kept_since: datetime) -> list[UUID]:
        values = {"first": first, "organizations_max": organizations_max, "kept_since": kept_since}
        return self._values(ORGANIZATIONS, values, prepare=False) if organizations_max else []
