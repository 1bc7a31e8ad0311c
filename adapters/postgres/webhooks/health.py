"""How webhooks are doing, in `webhook_deliveries` and `webhook_attempts`.

Every read is of the rows of one webhook and one time, found by an index, and ends at a maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, dict_row
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.webhooks.events import RETENTION
from core.webhooks.health import HealthFigures, HourOfDeliveries, ListedWebhook
from core.webhooks.webhooks import Webhook

_COUNTS: Final = """
    count(*) FILTER (WHERE delivered) AS delivered,
    count(*) FILTER (WHERE NOT delivered AND next_retry_at IS NOT NULL) AS waiting,
    count(*) FILTER (WHERE NOT delivered AND next_retry_at IS NOT NULL AND attempt_count > 0) AS retried,
    count(*) FILTER (WHERE NOT delivered AND next_retry_at IS NULL) AS failed
"""
WEBHOOKS: Final = f"""
    SELECT   {columns(Webhook)}, off_reason, off_at
    FROM     webhooks
    WHERE    organization_id = %s
    ORDER BY created_at, id
"""
# In the order of the webhooks.
LISTED: Final = f"""
    SELECT   counts.*, failure.attempted_at AS last_failure_at, failure.error AS last_error
    FROM     unnest(%(webhook_ids)s::uuid[]) WITH ORDINALITY AS webhook (id, number)
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT   delivered, next_retry_at, attempt_count
                FROM     webhook_deliveries d
                WHERE    d.organization_id = %(organization_id)s AND d.webhook_id = webhook.id
                AND      d.created_at >= %(since)s AND d.id >= %(first_id)s
                ORDER BY d.created_at DESC, d.id DESC
                LIMIT    %(counted_max)s) AS newest) AS counts
    LEFT JOIN LATERAL (
        SELECT   attempted_at, error
        FROM     webhook_attempts a
        WHERE    a.organization_id = %(organization_id)s AND a.webhook_id = webhook.id AND a.error IS NOT NULL
        AND      a.id >= %(first_kept_id)s
        ORDER BY attempted_at DESC
        LIMIT    1) AS failure ON true
    ORDER BY webhook.number
"""
HOURS: Final = f"""
    SELECT   hour.since, counts.*
    -- Numbers rather than times, of whose series the planner would always expect a thousand.
    FROM     (SELECT %(first)s::timestamptz + number * interval '1 hour' AS since
              FROM   generate_series(0, extract(epoch FROM %(last)s::timestamptz - %(first)s)::integer / 3600) AS number
             ) AS hour
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT delivered, next_retry_at, attempt_count
                FROM   webhook_deliveries d
                WHERE  d.organization_id = %(organization_id)s AND d.webhook_id = %(webhook_id)s
                AND    d.id >= %(first_id)s
                AND    d.created_at >= hour.since AND d.created_at < hour.since + interval '1 hour'
                LIMIT  %(counted_max)s) AS made) AS counts
    ORDER BY hour.since
"""
FIGURES: Final = """
    SELECT (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms)
            FROM   (SELECT   duration_ms
                    FROM     webhook_attempts
                    WHERE    organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s
                    AND      attempted_at >= %(since)s AND id >= %(first_id)s
                    ORDER BY attempted_at DESC
                    LIMIT    %(attempts_max)s) AS newest) AS p95_ms,
           failure.attempted_at AS last_failure_at, failure.error AS last_error
    FROM   (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT   attempted_at, error
        FROM     webhook_attempts
        WHERE    organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND error IS NOT NULL
        AND      id >= %(first_kept_id)s
        ORDER BY attempted_at DESC
        LIMIT    1) AS failure ON true
"""
STATE: Final = """
    SELECT CASE WHEN previous_secret_until > %(now)s THEN previous_secret_until END AS previous_until, off_reason,
           off_at
    FROM   webhooks
    WHERE  organization_id = %(organization_id)s AND id = %(webhook_id)s
"""


class PostgresWebhookHealths(Aggregate):
    """The port `WebhookHealths`."""

    def of_organization(self, organization_id: UUID, *, since: datetime, counted_max: int) -> Sequence[ListedWebhook]:
        webhooks = self._rows(WEBHOOKS, (organization_id,))
        if not webhooks:
            return []
        rows = self._rows(
            LISTED,
            {
                "organization_id": organization_id,
                "webhook_ids": [webhook["id"] for webhook in webhooks],
                "since": since,
                "first_id": first_id_since(since),
                "first_kept_id": self._first_kept_id(),
                "counted_max": counted_max,
            },
            prepare=False,
        )
        return [
            ListedWebhook(
                off_reason=webhook.pop("off_reason"), off_at=webhook.pop("off_at"), webhook=Webhook(**webhook), **row
            )
            for webhook, row in zip(webhooks, rows, strict=True)
        ]

    def hours(
        self, organization_id: UUID, webhook_id: UUID, *, first: datetime, hours: int, counted_max: int
    ) -> Sequence[HourOfDeliveries]:
        return self._all(
            HourOfDeliveries,
            HOURS,
            {
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "first": first,
                "first_id": first_id_since(first),
                "last": first + timedelta(hours=hours - 1),
                "counted_max": counted_max,
            },
            prepare=False,
        )

    def figures(self, organization_id: UUID, webhook_id: UUID, *, since: datetime, attempts_max: int) -> HealthFigures:
        values = {
            "organization_id": organization_id,
            "webhook_id": webhook_id,
            "since": since,
            "first_id": first_id_since(since),
            "first_kept_id": self._first_kept_id(),
            "attempts_max": attempts_max,
            "now": self._transaction.now,
        }
        state = self._connection.cursor(row_factory=dict_row).defer(STATE, values)
        [figures] = self._rows(FIGURES, values, prepare=False)
        return HealthFigures(**figures, **state.fetchall()[0])

    def _first_kept_id(self) -> UUID:
        """Return the lowest id that an attempt can have which is kept; older months need not be read."""
        return first_id_since(self._transaction.now - RETENTION)
