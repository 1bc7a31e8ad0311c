"""The sequencing of events: positions in the table `events`, the last one in `event_sequencing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import dict_row
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.deliveries import make_deliveries
from core.events.events import EventType

if TYPE_CHECKING:
    from datetime import datetime


class PostgresEventSequencing(Aggregate):
    """The port `EventSequencing`."""

    def hand_on(self, limit: int, *, kept_since: datetime) -> int | None:
        # The lock on this row is held to the commit, so positions are committed in their order.
        sequencing = (
            self._connection.cursor(row_factory=dict_row)
            .execute("SELECT last_position, backlog_before FROM event_sequencing FOR UPDATE SKIP LOCKED")
            .fetchone()
        )
        if sequencing is None:
            return None
        rows = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                WITH batch AS MATERIALIZED (
                    SELECT id, row_number() OVER (ORDER BY occurred_at, id) AS number
                    FROM   ((SELECT   id, occurred_at
                             FROM     events
                             WHERE    position IS NULL AND occurred_at >= %(backlog_before)s
                             ORDER BY occurred_at, id
                             LIMIT    %(limit)s)
                            UNION ALL
                            (SELECT   id, occurred_at
                             FROM     events
                             WHERE    position IS NULL
                             AND      occurred_at < %(backlog_before)s AND occurred_at > %(kept_since)s
                             ORDER BY occurred_at, id
                             LIMIT    %(limit)s)) AS next
                ), positioned AS (
                    UPDATE    events
                    SET       position = %(last_position)s + batch.number
                    FROM      batch
                    WHERE     events.id = batch.id
                    RETURNING events.id, type, organization_id, occurred_at, position
                ), advanced AS (
                    UPDATE event_sequencing SET last_position = last_position + (SELECT count(*) FROM batch)
                )
                SELECT   positioned.id AS event_id, webhooks.id AS webhook_id
                FROM     positioned
                LEFT     JOIN webhooks
                         ON  webhooks.organization_id = positioned.organization_id
                         AND webhooks.is_active
                         AND webhooks.created_at <= positioned.occurred_at
                         AND positioned.type = ANY (webhooks.events)
                         -- The webhook that a test is for has its delivery already.
                         AND positioned.type <> %(test)s
                ORDER BY positioned.position
                """,
                {"limit": limit, "kept_since": kept_since, "test": EventType.WEBHOOK_TEST.value, **sequencing},
                # A prepared statement would be planned without the limit, for a tenth of all events that wait.
                prepare=False,
            )
            .fetchall()
        )
        new_id = self._transaction.randomness.new_id
        make_deliveries(
            self._transaction,
            [(new_id(), row["event_id"], row["webhook_id"]) for row in rows if row["webhook_id"] is not None],
        )
        return len({row["event_id"] for row in rows})
