"""The overview of an organization: existence, and what fails."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.organizations.overview import Attention, SetupSteps
from core.webhooks.events import RETENTION

STEPS: Final = """
    SELECT EXISTS (SELECT FROM services WHERE organization_id = %(organization_id)s) AS has_service,
           EXISTS (SELECT FROM memberships
                   WHERE  organization_id = %(organization_id)s AND user_id <> %(user_id)s)
           OR EXISTS (SELECT FROM invitations
                      WHERE  organization_id = %(organization_id)s AND status = 'pending') AS has_colleague,
           EXISTS (SELECT FROM upstream_connections
                   WHERE  organization_id = %(organization_id)s AND enabled) AS has_provider,
           EXISTS (SELECT FROM custom_domains
                   WHERE  organization_id = %(organization_id)s AND verified_at IS NOT NULL) AS has_domain,
           EXISTS (SELECT FROM webhooks WHERE organization_id = %(organization_id)s AND is_active) AS has_webhook,
           EXISTS (SELECT FROM users WHERE id = %(user_id)s AND mfa_enabled_at IS NOT NULL)
           OR EXISTS (SELECT FROM passkeys WHERE user_id = %(user_id)s AND verifies_user) AS has_second_factor
"""
ATTENTION: Final = """
    SELECT (SELECT min(failing_since) FROM custom_domains WHERE organization_id = %(organization_id)s)
               AS domain_failing_since,
           (SELECT failing_since FROM mail_servers WHERE organization_id = %(organization_id)s) AS mail_failing_since,
           (SELECT coalesce(last_success_at, created_at)
            FROM   siem_streams
            WHERE  organization_id = %(organization_id)s AND enabled AND failures > 0) AS siem_failing_since,
           (SELECT count(*)
            FROM   webhooks w
            WHERE  w.organization_id = %(organization_id)s AND w.is_active
              AND  EXISTS (SELECT FROM webhook_deliveries d
                           WHERE  d.organization_id = w.organization_id AND d.webhook_id = w.id
                             AND  NOT d.delivered AND d.next_retry_at IS NULL AND d.created_at >= %(since)s
                             AND  d.id >= %(first_id)s))
               AS failing_webhooks,
           (SELECT count(*)
            FROM   webhooks w
            WHERE  w.organization_id = %(organization_id)s AND w.is_active
              AND  EXISTS (SELECT
                           FROM   (SELECT   a.delivery_id
                                   FROM     webhook_attempts a
                                   WHERE    a.organization_id = w.organization_id AND a.webhook_id = w.id
                                     AND    a.error IS NOT NULL AND a.attempted_at >= %(since)s
                                     AND    a.id >= %(first_id)s
                                   ORDER BY a.attempted_at DESC
                                   LIMIT    100) AS newest
                           JOIN   webhook_deliveries d
                                  ON d.organization_id = w.organization_id AND d.id = newest.delivery_id
                                     AND d.id >= %(first_kept_id)s
                           WHERE  NOT d.delivered AND d.next_retry_at IS NOT NULL))
               AS retrying_webhooks
"""


class PostgresOverviews(Aggregate):
    """The port `Overviews`."""

    def steps(self, organization_id: UUID, user_id: UUID) -> SetupSteps:
        return self._only(SetupSteps, STEPS, {"organization_id": organization_id, "user_id": user_id})

    def attention(self, organization_id: UUID, *, since: datetime) -> Attention:
        return self._only(
            Attention,
            ATTENTION,
            {
                "organization_id": organization_id,
                "since": since,
                "first_id": first_id_since(since),
                "first_kept_id": first_id_since(self._transaction.now - RETENTION),
            },
        )
