"""What the mails about undone takeovers list, from the tables of credentials and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from adapters.postgres.organizations.departures import label_of
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.organizations.takeover_mails import DatedThing, Recipient, RecordedChange

# Like `VALID` of the credentials that leavers have made, with when each was made, and with what ends with its maker.
_MADE: Final = """
    SELECT made.kind, made.organization_id, made.label, made.url, made.made_at
    FROM   unnest(%(organizations)s::uuid[]) AS o (id)
    CROSS  JOIN LATERAL (
        SELECT 'invitation' AS kind, organization_id, email AS label, NULL AS url, created_at AS made_at
        FROM   invitations
        WHERE  organization_id = o.id AND invited_by = %(user_id)s AND status = 'pending' AND expires_at > %(now)s
        UNION  ALL
        SELECT 'setup link', organization_id, array_to_string(parts, ', '), NULL, created_at
        FROM   setup_links
        WHERE  organization_id = o.id AND created_by = %(user_id)s AND expires_at > %(now)s
        UNION  ALL
        SELECT 'API key', k.organization_id, k.prefix || ' of the service ' || s.slug, NULL, k.created_at
        FROM   api_keys k
        JOIN   services s ON s.organization_id = k.organization_id AND s.id = k.service_id
        WHERE  k.organization_id = o.id AND k.created_by = %(user_id)s
          AND  (k.expires_at IS NULL OR k.expires_at > %(now)s)
        UNION  ALL
        SELECT 'workload', organization_id, 'at ', issuer, created_at
        FROM   workloads
        WHERE  organization_id = o.id AND created_by = %(user_id)s
        UNION  ALL
        SELECT 'SCIM token', organization_id, prefix, NULL, created_at
        FROM   scim_tokens
        WHERE  organization_id = o.id AND created_by = %(user_id)s AND (expires_at IS NULL OR expires_at > %(now)s)
        UNION  ALL
        SELECT 'client secret', organization_id, 'of the service ' || slug, NULL,
               coalesce(client_secret_made_at, updated_at)
        FROM   services
        WHERE  organization_id = o.id AND client_secret_made_by = %(user_id)s AND client_secret_hash IS NOT NULL
        UNION  ALL
        SELECT 'webhook', organization_id, 'to ', url, coalesce(made_at, updated_at)
        FROM   webhooks
        WHERE  organization_id = o.id AND made_by = %(user_id)s AND is_active
        UNION  ALL
        SELECT 'SIEM stream', organization_id, 'to ', endpoint, coalesce(made_at, updated_at)
        FROM   siem_streams
        WHERE  organization_id = o.id AND made_by = %(user_id)s AND enabled
        UNION  ALL
        SELECT 'connection', organization_id, 'to ', coalesce(issuer, ''), coalesce(made_at, updated_at)
        FROM   upstream_connections
        WHERE  organization_id = o.id AND made_by = %(user_id)s AND enabled) AS made
    WHERE  made.made_at >= %(begin)s AND made.made_at < %(end)s
    ORDER  BY made.made_at, made.kind, made.label
"""
# The target of an entry, in words that its maker could not choose freely. For one organization, because the logs may be
# spread over machines.
_CHANGES: Final = """
    SELECT   id, %(organization_id)s::uuid AS organization_id, action, created_at AS at,
             concat_ws(' ', details ->> 'change', details ->> 'invited_email', details ->> 'service_slug',
                       details ->> 'role_slug', details ->> 'key_prefix', details ->> 'scim_token_prefix',
                       details ->> 'webhook_host', details ->> 'host', details ->> 'domain') AS what,
             CASE WHEN details ? 'old_role'
                  THEN concat_ws(' ', details ->> 'old_role', '→', details ->> 'new_role') END AS roles,
             CASE WHEN action = 'user.role_updated' THEN target_id::uuid END AS user_id
    FROM     audit_entries
    WHERE    organization_id = %(organization_id)s AND actor_user_id = %(user_id)s AND id >= %(first_id)s
      AND    created_at >= %(since)s AND NOT details ? 'impersonator_id'
    ORDER BY id DESC
    LIMIT    %(limit)s
"""
_EMAILS: Final = "SELECT id, email FROM users WHERE id = ANY (%s)"
_RECIPIENTS: Final = """
    SELECT m.organization_id, u.email, u.language
    FROM   unnest(%(organizations)s::uuid[]) AS o (id)
    CROSS  JOIN LATERAL (
        SELECT   organization_id, user_id
        FROM     memberships
        WHERE    organization_id = o.id AND role IN ('owner', 'admin') AND suspended_at IS NULL
          AND    confirmed_at IS NOT NULL AND user_id <> %(except_user_id)s
        ORDER BY role DESC, created_at, id
        LIMIT    %(limit)s) AS m
    JOIN   users u ON u.id = m.user_id
    WHERE  u.deactivated_at IS NULL
    ORDER  BY u.email, m.organization_id
"""


class _Change(NamedTuple):
    id: UUID
    organization_id: UUID
    action: str
    at: datetime
    what: str
    roles: str | None
    user_id: UUID | None

    def with_email(self, email: str | None) -> RecordedChange:
        """Return the change with the address of the account whose role it changed."""
        words = [self.what, email if self.roles is not None else None, self.roles]
        what = " ".join(word for word in words if word)
        return RecordedChange(organization_id=self.organization_id, action=self.action, at=self.at, what=what)


class PostgresTakeoverRecords(Aggregate):
    """The port `TakeoverRecords`."""

    def made_between(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, begin: datetime, end: datetime
    ) -> Sequence[DatedThing]:
        return self._all(
            _dated,
            _MADE,
            {
                "user_id": user_id,
                "organizations": list(organization_ids),
                "begin": begin,
                "end": end,
                "now": self._transaction.now,
            },
        )

    def changes_since(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime, limit: int
    ) -> Sequence[RecordedChange]:
        values = {"user_id": user_id, "since": since, "first_id": first_id_since(since), "limit": limit}
        found = [
            self._defer_all(_Change, _CHANGES, values | {"organization_id": organization_id})
            for organization_id in organization_ids
        ]
        changes = sorted((change for of_organization in found for change in of_organization()), key=lambda one: one.id)
        users = list({change.user_id for change in changes if change.user_id is not None})
        emails: dict[UUID, str] = dict(self._connection.execute(_EMAILS, (users,)).fetchall()) if users else {}
        return [change.with_email(emails.get(change.user_id) if change.user_id else None) for change in changes]

    def recipients(self, organization_ids: Sequence[UUID], *, except_user_id: UUID, limit: int) -> Sequence[Recipient]:
        return self._all(
            Recipient,
            _RECIPIENTS,
            {"organizations": list(organization_ids), "except_user_id": except_user_id, "limit": limit},
        )


def _dated(*, kind: str, organization_id: UUID, label: str, url: str | None, made_at: datetime) -> DatedThing:
    return DatedThing(kind=kind, organization_id=organization_id, label=label_of(label, url), made_at=made_at)
