"""The numbers of the platform's overview: ranges of indexes that end at a maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from adapters.postgres.admissions import IS_SHOWN
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.organizations.organizations import OrganizationStatus
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook, PlatformSetup

SETUP: Final = """
    SELECT EXISTS (SELECT FROM services) AS has_service,
           EXISTS (SELECT FROM service_users WHERE last_login_at IS NOT NULL) AS has_sign_in,
           EXISTS (SELECT FROM recovery_runs WHERE kind = 'backup') AS has_backup
"""
FAILING_WEBHOOKS: Final = """
    WITH failing AS MATERIALIZED (
        SELECT   q.organization_id, q.webhook_id, w.name, q.lost_at
        FROM     (SELECT   organization_id, webhook_id, lost_at
                  FROM     webhook_queues
                  WHERE    lost_at >= %(since)s
                  ORDER BY lost_at DESC
                  LIMIT    %(webhooks_max)s) AS q
        JOIN     webhooks w ON w.organization_id = q.organization_id AND w.id = q.webhook_id AND w.is_active
    )
    SELECT   f.organization_id, o.name AS organization_name, f.webhook_id, f.name, f.lost_at AS last_at,
             (SELECT count(*) FROM failing) AS total
    FROM     failing f
    JOIN     organizations o ON o.id = f.organization_id
    ORDER BY f.lost_at DESC, f.webhook_id
    LIMIT    %(limit)s
"""
LOST: Final = """
    SELECT count(*)
    FROM   (SELECT 1 FROM webhook_deliveries
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s
            AND    created_at >= %(since)s AND id >= %(first_id)s AND NOT delivered AND next_retry_at IS NULL
            LIMIT  %(counted_max)s) AS counted
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
ORGANIZATIONS: Final = f"""
    SELECT s.status,
           (SELECT count(*)
            FROM   (SELECT FROM organizations o WHERE o.status = s.status AND {IS_SHOWN} LIMIT %s) AS counted) AS number
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

    def setup(self) -> PlatformSetup:
        return self._only(PlatformSetup, SETUP)

    def failing_webhooks(
        self, *, since: datetime, webhooks_max: int, limit: int, counted_max: int
    ) -> tuple[Sequence[FailingWebhook], int]:
        rows = self._rows(FAILING_WEBHOOKS, {"since": since, "webhooks_max": webhooks_max, "limit": limit})
        total = max((row.pop("total") for row in rows), default=0)
        losses = [
            self._defer_value_or_none(
                LOST,
                {
                    "organization_id": row["organization_id"],
                    "webhook_id": row.pop("webhook_id"),
                    "since": since,
                    "first_id": first_id_since(since),
                    "counted_max": counted_max,
                },
            )
            for row in rows
        ]
        found = [FailingWebhook(**row, lost=lost()) for row, lost in zip(rows, losses, strict=True)]
        # A delivery that was queued again meanwhile is no longer lost.
        failing = [one for one in found if one.lost]
        return failing, total - (len(found) - len(failing))

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
