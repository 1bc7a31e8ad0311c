"""The numbers of the platform's overview: ranges of indexes that end at a maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, TypeVar
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import FIRST_ID, first_id_since
from core.organizations.organizations import OrganizationStatus
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook

Row = TypeVar("Row")

# Steps through the webhooks by their index: each reads so many lost deliveries, and the next one begins after the last
# webhook, whatever it has lost besides. All machines over which the log is spread are asked in each step.
STEP_ROWS_MAX: Final = 1_000
STEPS_MAX: Final = 100
LOSING: Final = """
    SELECT   organization_id, webhook_id, created_at
    FROM     webhook_deliveries
    WHERE    NOT delivered AND next_retry_at IS NULL AND id >= %(first_id)s
      AND    (organization_id, webhook_id) > (%(after_organization)s, %(after_webhook)s)
    ORDER BY organization_id, webhook_id, created_at DESC
    LIMIT    %(rows_max)s
"""
_FAILING_WEBHOOKS: Final = """
    SELECT   o.id AS organization_id, o.name AS organization_name, w.id, w.name, l.created_at AS last_at,
             count(*) OVER () AS total
    FROM     unnest(%(organizations)s::uuid[], %(webhooks)s::uuid[], %(times)s::timestamptz[])
             AS l (organization_id, webhook_id, created_at)
    JOIN     webhooks w      ON w.organization_id = l.organization_id AND w.id = l.webhook_id AND w.is_active
    JOIN     organizations o ON o.id = l.organization_id
    WHERE    l.created_at >= %(since)s
    ORDER BY l.created_at DESC, w.id
    LIMIT    %(limit)s
"""
_LOST: Final = """
    SELECT count(*)
    FROM   (SELECT 1
            FROM   webhook_deliveries
            WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND created_at >= %(since)s
              AND  id >= %(first_id)s AND NOT delivered AND next_retry_at IS NULL
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
        bounds: dict[str, Any] = {"since": since, "first_id": first_id_since(since)}
        losing = self._losing(bounds["first_id"], webhooks_max=webhooks_max)
        if not losing:
            return [], 0
        failing = self._rows(
            _FAILING_WEBHOOKS,
            {
                "organizations": [organization_id for organization_id, _ in losing],
                "webhooks": [webhook_id for _, webhook_id in losing],
                "times": list(losing.values()),
                "since": since,
                "limit": limit,
            },
        )
        totals = [row.pop("total") for row in failing]
        counted = [
            self._defer_value_or_none(
                _LOST,
                {**bounds, "organization_id": row["organization_id"], "webhook_id": row.pop("id")}
                | {"counted_max": counted_max},
            )
            for row in failing
        ]
        webhooks = [FailingWebhook(**row, lost=lost()) for row, lost in zip(failing, counted, strict=True)]
        return webhooks, totals[0] if totals else 0

    def _losing(self, first_id: UUID, *, webhooks_max: int) -> Mapping[tuple[UUID, UUID], datetime]:
        """Return the webhooks that have lost deliveries, each with the time of the newest of them."""
        losing: dict[tuple[UUID, UUID], datetime] = {}
        after = FIRST_ID, FIRST_ID
        for _ in range(STEPS_MAX):
            values = {"first_id": first_id, "after_organization": after[0], "after_webhook": after[1]}
            found = self._connection.execute(LOSING, values | {"rows_max": STEP_ROWS_MAX}).fetchall()
            for organization_id, webhook_id, created_at in found:
                losing.setdefault((organization_id, webhook_id), created_at)
            if len(found) < STEP_ROWS_MAX or len(losing) >= webhooks_max:
                break
            after = found[-1][:2]
        return dict(islice(losing.items(), webhooks_max))

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
