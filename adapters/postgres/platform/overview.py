"""The numbers of the platform's overview: ranges of indexes that end at a maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.organizations.organizations import OrganizationStatus
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook

Row = TypeVar("Row")

# Steps from webhook to webhook by their index, whatever the number of deliveries that each has lost.
FAILING_WEBHOOKS: Final = """
    WITH RECURSIVE losing AS (
        (SELECT   organization_id, webhook_id, created_at, 1 AS step
         FROM     webhook_deliveries
         WHERE    NOT delivered AND next_retry_at IS NULL AND id >= %(first_id)s
         ORDER BY organization_id, webhook_id, created_at DESC
         LIMIT    1)
        UNION ALL
        SELECT following.*, l.step + 1
        FROM   losing l
        CROSS  JOIN LATERAL (SELECT   organization_id, webhook_id, created_at
                             FROM     webhook_deliveries
                             WHERE    NOT delivered AND next_retry_at IS NULL AND id >= %(first_id)s
                               AND    (organization_id, webhook_id) > (l.organization_id, l.webhook_id)
                             ORDER BY organization_id, webhook_id, created_at DESC
                             LIMIT    1) AS following
        WHERE  l.step < %(webhooks_max)s
    ), failing AS MATERIALIZED (
        SELECT   o.id AS organization_id, o.name AS organization_name, w.id, w.name, l.created_at AS last_at,
                 count(*) OVER () AS total
        FROM     losing l
        JOIN     webhooks w      ON w.organization_id = l.organization_id AND w.id = l.webhook_id AND w.is_active
        JOIN     organizations o ON o.id = l.organization_id
        WHERE    l.created_at >= %(since)s
        ORDER BY l.created_at DESC, w.id
        LIMIT    %(limit)s
    )
    SELECT   f.organization_id, f.organization_name, f.name, f.last_at, f.total,
             (SELECT count(*)
              FROM   (SELECT FROM webhook_deliveries d
                      WHERE  d.organization_id = f.organization_id AND d.webhook_id = f.id AND d.created_at >= %(since)s
                        AND  d.id >= %(first_id)s AND NOT d.delivered AND d.next_retry_at IS NULL
                      LIMIT  %(counted_max)s) AS counted) AS lost
    FROM     failing f
    ORDER BY f.last_at DESC, f.id
"""
# The reason is written out, so that the index that has these alone is used.
GONE_WEBHOOKS: Final = """
    WITH gone AS MATERIALIZED (
        SELECT   o.id AS organization_id, o.name AS organization_name, w.name, w.off_at, w.id
        FROM     webhooks w
        JOIN     organizations o ON o.id = w.organization_id
        WHERE    w.off_reason = 'receiver_gone' AND w.off_at >= %(since)s
        ORDER BY w.off_at DESC
        LIMIT    %(counted_max)s)
    SELECT   organization_id, organization_name, name, off_at, (SELECT count(*) FROM gone) AS total
    FROM     gone
    ORDER BY off_at DESC, gone.id
    LIMIT    %(limit)s
"""
FAILING_STREAMS: Final = """
    SELECT   o.id AS organization_id, o.name AS organization_name,
             coalesce(s.last_success_at, s.created_at) AS failing_since, s.last_error, count(*) OVER () AS total
    FROM     siem_streams s
    JOIN     organizations o ON o.id = s.organization_id
    WHERE    s.enabled AND s.failures > 0
    ORDER BY failing_since, o.id
    LIMIT    %(limit)s
"""
ORGANIZATIONS: Final = """
    SELECT s.status,
           (SELECT count(*)
            FROM   (SELECT FROM organizations o WHERE o.status = s.status LIMIT %s) AS counted) AS number
    FROM   unnest(%s::text[]) AS s (status)
"""
NEW_USERS: Final = "SELECT count(*) FROM (SELECT FROM users WHERE created_at >= %s LIMIT %s) AS newest"
OWNERS_WITHOUT_SECOND_FACTOR: Final = """
    SELECT count(*)
    FROM   users u
    WHERE  u.is_platform_owner AND u.closed_at IS NULL AND u.mfa_enabled_at IS NULL
      AND  NOT EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id AND p.verifies_user)
"""


class PostgresPlatformOverviews(Aggregate):
    """The port `PlatformOverviews`."""

    def failing_webhooks(
        self, *, since: datetime, webhooks_max: int, limit: int, counted_max: int
    ) -> tuple[Sequence[FailingWebhook], int]:
        return self._page_of(
            FailingWebhook,
            FAILING_WEBHOOKS,
            {
                "since": since,
                "first_id": first_id_since(since),
                "webhooks_max": webhooks_max,
                "limit": limit,
                "counted_max": counted_max,
            },
        )

    def gone_webhooks(self, *, since: datetime, limit: int, counted_max: int) -> tuple[Sequence[GoneWebhook], int]:
        return self._page_of(GoneWebhook, GONE_WEBHOOKS, {"since": since, "limit": limit, "counted_max": counted_max})

    def failing_streams(self, *, limit: int) -> tuple[Sequence[FailingStream], int]:
        return self._page_of(FailingStream, FAILING_STREAMS, {"limit": limit})

    def owners_without_second_factor(self) -> int:
        return self._value(OWNERS_WITHOUT_SECOND_FACTOR)

    def organizations_by_status(self, *, counted_max: int) -> Mapping[OrganizationStatus, int]:
        rows = self._rows(ORGANIZATIONS, (counted_max, [status.value for status in OrganizationStatus]))
        return {OrganizationStatus(row["status"]): row["number"] for row in rows}

    def new_users(self, *, since: datetime, counted_max: int) -> int:
        return self._value(NEW_USERS, (since, counted_max))
