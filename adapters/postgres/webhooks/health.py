"""How webhooks are doing, in `webhook_deliveries` and `webhook_attempts`.

Every read is of the rows of one webhook and one time, found by an index, and ends at a maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from adapters.postgres.driver.columns import prefixed, taken
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.webhooks.events import RETENTION
from core.webhooks.health import HealthFigures, HourOfDeliveries, ListedWebhook
from core.webhooks.webhooks import Webhook

_COUNTS: Final = """
    count(*) FILTER (WHERE delivered) AS delivered,
    count(*) FILTER (WHERE NOT delivered AND next_retry_at IS NOT NULL) AS waiting,
    count(*) FILTER (WHERE NOT delivered AND next_retry_at IS NULL) AS failed
"""
LISTED: Final = f"""
    SELECT   {prefixed(Webhook, table="w", prefix="webhook_")}, counts.*, w.off_reason, w.off_at,
             failure.attempted_at AS last_failure_at, failure.error AS last_error
    FROM     webhooks w
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT   delivered, next_retry_at
                FROM     webhook_deliveries d
                WHERE    d.organization_id = w.organization_id AND d.webhook_id = w.id AND d.created_at >= %(since)s
                AND      d.id >= %(first_id)s
                ORDER BY d.created_at DESC, d.id DESC
                LIMIT    %(counted_max)s) AS newest) AS counts
    LEFT JOIN LATERAL (
        SELECT   attempted_at, error
        FROM     webhook_attempts a
        WHERE    a.organization_id = w.organization_id AND a.webhook_id = w.id AND a.error IS NOT NULL
        AND      a.id >= %(first_kept_id)s
        ORDER BY attempted_at DESC
        LIMIT    1) AS failure ON true
    WHERE    w.organization_id = %(organization_id)s
    ORDER BY w.created_at, w.id
"""
HOURS: Final = f"""
    SELECT   hour.since, counts.*
    -- Numbers rather than times, of whose series the planner would always expect a thousand.
    FROM     (SELECT %(first)s::timestamptz + number * interval '1 hour' AS since
              FROM   generate_series(0, extract(epoch FROM %(last)s::timestamptz - %(first)s)::integer / 3600) AS number
             ) AS hour
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT delivered, next_retry_at
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
                    WHERE    organization_id = w.organization_id AND webhook_id = w.id AND attempted_at >= %(since)s
                    AND      id >= %(first_id)s
                    ORDER BY attempted_at DESC
                    LIMIT    %(attempts_max)s) AS newest) AS p95_ms,
           CASE WHEN w.previous_secret_until > %(now)s THEN w.previous_secret_until END AS previous_until,
           failure.attempted_at AS last_failure_at, failure.error AS last_error, w.off_reason, w.off_at
    FROM   webhooks w
    LEFT JOIN LATERAL (
        SELECT   attempted_at, error
        FROM     webhook_attempts a
        WHERE    a.organization_id = w.organization_id AND a.webhook_id = w.id AND a.error IS NOT NULL
        AND      a.id >= %(first_kept_id)s
        ORDER BY attempted_at DESC
        LIMIT    1) AS failure ON true
    WHERE  w.organization_id = %(organization_id)s AND w.id = %(webhook_id)s
"""


class PostgresWebhookHealths(Aggregate):
    """The port `WebhookHealths`."""

    def of_organization(self, organization_id: UUID, *, since: datetime, counted_max: int) -> Sequence[ListedWebhook]:
        rows = self._rows(
            LISTED,
            {
                "organization_id": organization_id,
                "since": since,
                "first_id": first_id_since(since),
                "first_kept_id": self._first_kept_id(),
                "counted_max": counted_max,
            },
            prepare=False,
        )
        return [ListedWebhook(webhook=Webhook(**taken(row, "webhook_")), **row) for row in rows]

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
        [figures] = self._all(
            HealthFigures,
            FIGURES,
            {
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "since": since,
                "first_id": first_id_since(since),
                "first_kept_id": self._first_kept_id(),
                "attempts_max": attempts_max,
                "now": self._transaction.now,
            },
            prepare=False,
        )
        return figures

    def _first_kept_id(self) -> UUID:
        """Return the lowest id that an attempt can have which is kept; older months need not be read."""
        return first_id_since(self._transaction.now - RETENTION)
