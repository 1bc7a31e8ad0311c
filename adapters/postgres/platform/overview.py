"""The numbers of the platform's overview: ranges of indexes that end at a maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from adapters.postgres.transaction import Aggregate
from core.mail.mail import MailState
from core.organizations.organizations import OrganizationStatus
from core.organizations.overview import SignInTotals
from core.platform.overview import FailingStream, FailingWebhook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

Row = TypeVar("Row")

FAILING_WEBHOOKS: Final = """
    WITH lost AS MATERIALIZED (
        SELECT   webhook_id, organization_id, created_at
        FROM     webhook_deliveries
        WHERE    NOT delivered AND next_retry_at IS NULL AND created_at >= %(since)s
        ORDER BY created_at DESC
        LIMIT    %(read_max)s
    ), failing AS MATERIALIZED (
        SELECT   organization_id, webhook_id, count(*) AS lost, max(created_at) AS last_at
        FROM     lost
        GROUP BY organization_id, webhook_id
    )
    SELECT   o.id AS organization_id, o.name AS organization_name, w.name, f.lost, f.last_at, count(*) OVER () AS total
    FROM     failing f
    JOIN     webhooks w      ON w.organization_id = f.organization_id AND w.id = f.webhook_id AND w.is_active
    JOIN     organizations o ON o.id = f.organization_id
    ORDER BY f.lost DESC, f.last_at DESC, w.id
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
# The states are a part of the text, for the index of the mails that are not delivered.
_MAILS: Final = """
    SELECT s.state,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   mails m
                    WHERE  m.state = s.state AND m.state IN ('queued', 'routed', 'kept', 'failed')
                    LIMIT  %s) AS counted) AS number
    FROM   unnest(ARRAY['queued', 'routed', 'kept', 'failed']) AS s (state)
"""
SIGN_INS: Final = """
    SELECT count(*) FILTER (WHERE success) AS succeeded, count(*) FILTER (WHERE NOT success) AS refused
    FROM   (SELECT success FROM login_events WHERE id >= %(after_id)s ORDER BY id DESC LIMIT %(counted_max)s) AS newest
"""


class PostgresPlatformOverviews(Aggregate):
    """The port `PlatformOverviews`."""

    def failing_webhooks(self, *, since: datetime, read_max: int, limit: int) -> tuple[Sequence[FailingWebhook], int]:
        return self._page_of(FailingWebhook, FAILING_WEBHOOKS, {"since": since, "read_max": read_max, "limit": limit})

    def failing_streams(self, *, limit: int) -> tuple[Sequence[FailingStream], int]:
        return self._page_of(FailingStream, FAILING_STREAMS, {"limit": limit})

    def organizations_by_status(self, *, counted_max: int) -> Mapping[OrganizationStatus, int]:
        rows = self._rows(ORGANIZATIONS, (counted_max, [status.value for status in OrganizationStatus]))
        return {OrganizationStatus(row["status"]): row["number"] for row in rows}

    def mails_by_state(self, *, counted_max: int) -> Mapping[MailState, int]:
        return {MailState(row["state"]): row["number"] for row in self._rows(_MAILS, (counted_max,))}

    def sign_ins(self, *, after_id: UUID, counted_max: int) -> SignInTotals:
        return self._only(SignInTotals, SIGN_INS, {"after_id": after_id, "counted_max": counted_max})
