"""Deliveries in the table `webhook_deliveries`, and the queue of webhooks in `webhook_queues`.

A statement that makes a delivery due also makes its webhook due. Locks are taken in one order: webhook, then its queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from psycopg.types.json import Jsonb

from adapters.crypto.vault import SealBroken
from adapters.postgres.target_queues import CANDIDATES_MAX, TargetQueue, leased_of
from adapters.postgres.webhooks.events import delivery_payload
from adapters.postgres.webhooks.new_deliveries import NewDelivery, make_deliveries
from adapters.postgres.webhooks.webhooks import opened_secrets
from core.attempts import ATTEMPTS_MAX, POSTPONEMENT
from core.events.events import EventType
from core.ids import first_id_after, first_id_since
from core.webhooks.deliveries import Delivery, DeliveryFilter, DeliveryOutcome, DueDelivery, LeasedWebhook
from core.webhooks.delivery_log import ATTEMPTS_SHOWN_MAX
from core.webhooks.events import RETENTION
from core.webhooks.webhooks import SigningSecrets
from ports.mailboxes import WorkKind

# Beyond this a page is empty anyway, but PostgreSQL would still read all of it.
_OFFSET_MAX: Final = 10**9
_LEASED: Final = leased_of(
    "webhook_queues",
    "webhook_id",
    # Not EXISTS, for which the planner reads all organizations to look up a few webhooks.
    is_served="""coalesce((SELECT w.is_active AND o.status = 'active'
                                   FROM   webhooks w
                                   JOIN   organizations o ON o.id = w.organization_id
                                   WHERE  w.id = q.webhook_id), false)""",
)
LEASE: Final = f"""
    WITH {_LEASED}
    SELECT w.id, w.organization_id, w.url, w.secret_sealed, w.previous_secret_sealed, w.previous_secret_until
    FROM   leased
    JOIN   webhooks w ON w.id = leased.webhook_id
"""
# What is due of one webhook. A subquery finds each event by its id; a join might read all events of the organization.
DUE: Final = f"""
    SELECT   one.id,
             (SELECT {delivery_payload("one.event_type")}
              FROM   events e
              WHERE  e.organization_id = %(organization_id)s AND e.id = one.event_id) AS payload,
             one.attempt_count, one.queued_at
    -- For the planner, which does not know the value of the other limit.
    FROM     (SELECT   id, event_id, event_type, attempt_count, queued_at, next_retry_at
              FROM     webhook_deliveries
              WHERE    organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s
              AND      next_retry_at <= %(now)s AND id >= %(first_id)s
              ORDER BY next_retry_at, id
              LIMIT    100) AS one
    ORDER BY one.next_retry_at, one.id
    LIMIT    %(deliveries_max)s
"""
# Webhooks that are not served are postponed for a shorter time.
MAKE_OVERLOOKED_DUE: Final = """
    UPDATE webhook_queues
    SET    due_at = %(now)s
    WHERE  (organization_id, webhook_id) IN (
        SELECT * FROM unnest(%(organization_ids)s::uuid[], %(webhook_ids)s::uuid[]))
    AND    (due_at IS NULL OR due_at > %(postponed_until)s) AND (leased_until IS NULL OR leased_until <= %(now)s)
"""
NAME: Final = "SELECT name FROM webhooks WHERE organization_id = %s AND id = %s"

log = structlog.get_logger(__name__)


class PostgresWebhookDeliveries(TargetQueue):
    """The port `WebhookDeliveries`."""

    queue = "webhook_queues"
    target = "webhook_id"
    items = "webhook_deliveries"

    def page(
        self, organization_id: UUID, webhook_id: UUID, wanted: DeliveryFilter, *, limit: int, offset: int
    ) -> tuple[Sequence[Delivery], int] | None:
        values = {
            "organization_id": organization_id,
            "webhook_id": webhook_id,
            "event_type": wanted.event_type.value if wanted.event_type is not None else None,
            "delivered": wanted.delivered,
            "attempts_max": ATTEMPTS_MAX,
            "limit": limit,
            "offset": min(offset, _OFFSET_MAX),
            "first_id": self._first_kept_id(),
        }
        name = self._defer_value_or_none(NAME, (organization_id, webhook_id))
        total = self._defer_value_or_none(
            """
            SELECT count(*)
            FROM   webhook_deliveries
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND id >= %(first_id)s
            AND    (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
            AND    (%(delivered)s::boolean IS NULL OR delivered = %(delivered)s)
            """,
            values,
        )
        rows = self._rows(
            f"""
            SELECT   d.id, d.webhook_id, d.event_type,
                     (SELECT {delivery_payload("d.event_type")}
                      FROM   events e
                      WHERE  e.organization_id = %(organization_id)s AND e.id = d.event_id) AS payload,
                     d.response_status_code, d.response_body, d.attempt_count,
                     %(attempts_max)s::integer AS max_attempts, d.next_retry_at, d.delivered, d.delivery_error,
                     d.created_at, d.updated_at
            FROM     webhook_deliveries d
            WHERE    d.organization_id = %(organization_id)s AND d.webhook_id = %(webhook_id)s
            AND      d.id >= %(first_id)s
            AND      (%(event_type)s::text IS NULL OR d.event_type = %(event_type)s)
            AND      (%(delivered)s::boolean IS NULL OR d.delivered = %(delivered)s)
            ORDER BY d.created_at DESC, d.id DESC
            LIMIT    %(limit)s
            OFFSET   %(offset)s
            """,
            values,
            # A prepared statement would be planned without the limit, for a tenth of all deliveries.
            prepare=False,
        )
        webhook_name = name()
        if webhook_name is None:
            return None
        return [Delivery(webhook_name=webhook_name, **row) for row in rows], total()

    def add_test(
        self,
        organization_id: UUID,
        webhook_id: UUID,
        *,
        event_type: EventType,
        sample: Mapping[str, Any],
        actor_user_id: UUID | None,
        actor_email: str | None,
    ) -> UUID | None:
        data: dict[str, Any] = {"webhook_id": str(webhook_id)}
        if event_type is not EventType.WEBHOOK_TEST:
            data |= {"event_type": event_type.value, "sample": sample}
        self._transaction.mark_due([organization_id])
        event_id, delivery_id = self._transaction.randomness.new_id(), self._transaction.randomness.new_id()
        if not self._finds_any(
            "SELECT FROM webhooks WHERE organization_id = %s AND id = %s FOR KEY SHARE", (organization_id, webhook_id)
        ):
            return None
        self._connection.execute_later(
            """
            INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                event_id,
                EventType.WEBHOOK_TEST.value,
                organization_id,
                actor_user_id,
                actor_email,
                Jsonb(data),
                self._transaction.now,
            ),
        )
        self._transaction.made_due.add(WorkKind.EVENTS)
        made = NewDelivery(delivery_id, organization_id, webhook_id, event_id, event_type.value, self._transaction.now)
        make_deliveries(self._transaction, [made])
        return delivery_id

    def queue_again(
        self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID, *, seen_at: datetime | None
    ) -> bool:
        queued = self._connection.execute(
            """
            UPDATE webhook_deliveries
            SET    attempt_count = 0, delivered = false, next_retry_at = %(now)s, queued_at = %(now)s,
                   updated_at = %(now)s
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND id = %(id)s
            AND    (%(seen_at)s::timestamptz IS NULL OR updated_at = %(seen_at)s)
            """,
            {
                "now": self._transaction.now,
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "id": delivery_id,
                "seen_at": seen_at,
            },
        ).rowcount
        self.make_due(organization_id, webhook_id)
        return queued == 1

    def queue_failed_again(self, organization_id: UUID, webhook_id: UUID, *, since: datetime, limit: int) -> int:
        queued = self._connection.execute(
            """
            UPDATE webhook_deliveries
            SET    attempt_count = 0, next_retry_at = %(now)s, queued_at = %(now)s, updated_at = %(now)s
            WHERE  organization_id = %(organization_id)s AND id >= %(first_id)s AND id IN (
                SELECT   id
                FROM     webhook_deliveries
                WHERE    organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND id >= %(first_id)s
                AND      NOT delivered AND next_retry_at IS NULL AND created_at >= %(since)s
                ORDER BY created_at, id
                LIMIT    %(limit)s
                FOR      NO KEY UPDATE SKIP LOCKED)
            """,
            {
                "now": self._transaction.now,
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "since": since,
                "first_id": max(first_id_since(since), self._first_kept_id()),
                "limit": limit,
            },
        ).rowcount
        self.make_due(organization_id, webhook_id)
        return queued

    def make_due(self, organization_id: UUID, webhook_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE webhook_queues
            SET    due_at = least(due_at, %(now)s)
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s
            """,
            {"now": self._transaction.now, "organization_id": organization_id, "webhook_id": webhook_id},
        )
        self._transaction.made_due.add(WorkKind.DELIVERIES)

    def postpone_inactive(self, *, webhooks_max: int, until: datetime) -> None:
        # They would stay in front for ever, and each lease would look at all of them again.
        self._connection.execute_later(
            """
            UPDATE webhook_queues
            SET    due_at = %(until)s
            WHERE  webhook_id = ANY (ARRAY(
                SELECT q.webhook_id
                FROM   webhook_queues q
                WHERE  q.webhook_id = ANY (ARRAY(SELECT   webhook_id
                                                 FROM     webhook_queues
                                                 WHERE    due_at <= %(now)s
                                                 AND      (leased_until IS NULL OR leased_until <= %(now)s)
                                                 ORDER BY due_at
                                                 LIMIT    %(webhooks_max)s))
                AND    NOT coalesce((SELECT w.is_active AND o.status = 'active'
                                     FROM   webhooks w
                                     JOIN   organizations o ON o.id = w.organization_id
                                     WHERE  w.id = q.webhook_id), false)
                FOR    NO KEY UPDATE OF q SKIP LOCKED))
            """,
            {"now": self._transaction.now, "until": until, "webhooks_max": webhooks_max},
        )

    def lease(
        self, *, webhooks_max: int, of_organization_max: int, deliveries_max: int, leased_until: datetime
    ) -> Sequence[LeasedWebhook]:
        rows = self._rows(
            LEASE,
            {
                "now": self._transaction.now,
                "leased_until": leased_until,
                "targets_max": webhooks_max,
                "candidates_max": CANDIDATES_MAX,
                "of_organization_max": of_organization_max,
            },
            # A prepared statement would be planned without the limits, for a tenth of all rows.
            prepare=False,
        )
        opened = [(row, secrets) for row in rows if (secrets := self._secrets_of(row)) is not None]
        due = [
            self._defer_all(
                DueDelivery,
                DUE,
                {
                    "organization_id": row["organization_id"],
                    "webhook_id": row["id"],
                    "now": self._transaction.now,
                    "first_id": self._first_kept_id(),
                    "deliveries_max": deliveries_max,
                },
            )
            for row, _ in opened
        ]
        return [
            LeasedWebhook(
                id=row["id"],
                organization_id=row["organization_id"],
                url=row["url"],
                secrets=secrets,
                leased_until=leased_until,
                deliveries=deliveries(),
            )
            for (row, secrets), deliveries in zip(opened, due, strict=True)
        ]

    def save(self, organization_id: UUID, webhook_id: UUID, outcome: DeliveryOutcome) -> bool:
        attempt = outcome.attempt
        values = {
            "attempt_id": self._transaction.randomness.new_id(),
            "attempts_max": ATTEMPTS_SHOWN_MAX,
            "attempted_at": self._transaction.now - timedelta(milliseconds=attempt.duration_ms),
            "duration_ms": attempt.duration_ms,
            "headers": Jsonb(dict(attempt.headers)),
            "attempt_count": outcome.attempt_count,
            "next_retry_at": outcome.next_retry_at,
            "delivered": attempt.is_success,
            "status": attempt.status_code,
            "body": attempt.body,
            "error": attempt.error,
            "now": self._transaction.now,
            "organization_id": organization_id,
            "webhook_id": webhook_id,
            "id": outcome.delivery_id,
            "first_id": first_id_after(outcome.delivery_id),
        }
        recorded = self._values(
            """
            UPDATE webhook_deliveries
            SET    attempt_count = %(attempt_count)s, next_retry_at = %(next_retry_at)s, delivered = %(delivered)s,
                   response_status_code = %(status)s, response_body = %(body)s, delivery_error = %(error)s,
                   updated_at = %(now)s
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND id = %(id)s
            AND    attempt_count = %(attempt_count)s - 1 AND next_retry_at IS NOT NULL
            RETURNING queued_at > created_at
            """,
            values,
        )
        if not recorded:
            return False
        if recorded[0]:
            # Queueing again must not make answers pile up.
            self._connection.execute_later(
                """
                DELETE FROM webhook_attempts
                WHERE  organization_id = %(organization_id)s AND id >= %(first_id)s AND id < %(attempt_id)s
                AND    id = ANY (ARRAY(SELECT   id
                                       FROM     webhook_attempts
                                       WHERE    organization_id = %(organization_id)s AND delivery_id = %(id)s
                                       AND      id >= %(first_id)s AND id < %(attempt_id)s
                                       ORDER BY id DESC
                                       OFFSET   %(attempts_max)s - 1))
                """,
                values,
            )
        self._connection.execute_later(
            """
            INSERT INTO webhook_attempts (id, organization_id, webhook_id, delivery_id, attempted_at, duration_ms,
                                          request_headers, status_code, response_body, error)
            VALUES (%(attempt_id)s, %(organization_id)s, %(webhook_id)s, %(id)s, %(attempted_at)s, %(duration_ms)s,
                    %(headers)s, %(status)s, %(body)s, %(error)s)
            """,
            values,
        )
        if not attempt.is_success and outcome.next_retry_at is None:
            self._connection.execute_later(
                "UPDATE webhook_queues SET lost_at = %s WHERE organization_id = %s AND webhook_id = %s",
                (self._transaction.now, organization_id, webhook_id),
            )
        return True

    def release(self, organization_id: UUID, webhook_id: UUID, *, leased_until: datetime) -> None:
        self._release(organization_id, webhook_id, leased_until)

    def make_overlooked_due(self, webhooks: Sequence[tuple[UUID, UUID]]) -> int:
        if not webhooks:
            return 0
        self._transaction.made_due.add(WorkKind.DELIVERIES)
        return self._connection.execute(
            MAKE_OVERLOOKED_DUE,
            {
                "now": self._transaction.now,
                "postponed_until": self._transaction.now + 2 * POSTPONEMENT,
                "organization_ids": [organization_id for organization_id, _ in webhooks],
                "webhook_ids": [webhook_id for _, webhook_id in webhooks],
            },
        ).rowcount

    def _first_kept_id(self) -> UUID:
        # Older months need not be read.
        return first_id_since(self._transaction.now - RETENTION)

    def _secrets_of(self, row: dict[str, Any]) -> SigningSecrets | None:
        try:
            return opened_secrets(self._transaction.vault, row)
        except SealBroken as broken:
            # It stays leased, so that it is tried again after the lease and holds up no other webhook.
            log.error("webhook.unreadable", webhook_id=str(row["id"]), reason=str(broken))  # noqa: TRY400 - expected
            return None
