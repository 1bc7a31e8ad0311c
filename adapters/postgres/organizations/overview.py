"""The overview of an organization: which parts are set up, and the matters that a person has to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import first_id_at, first_id_since
from core.invitations.invitations import LIFETIME
from core.key_certificates import WARNING
from core.limits import COUNTED_MAX
from core.organizations.overview import (
    EXPIRED_WITHIN,
    LAG,
    LOST_WITHIN,
    SEATS_PERCENT,
    AttentionItem,
    AttentionKind,
    SetupSteps,
)
from core.sign_in.upstream.connections.metadata_validity import WARNING_OF_ADDRESS
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.tables import PartialTable
from core.webhooks.events import RETENTION

OF_ONE_SIGN_IN: Final = [problem.value for problem in ProviderProblem if problem.is_of_one_sign_in]

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
# A part whose kind is not asked for is not read. Each ends at a maximum, or has one row at most, apart from what the
# logs may know of the webhooks of the organization and of its stream.
MATTERS: Final = """
    SELECT 'mail_server_failing' AS kind, failing_since AS at, host AS name, NULL AS target, NULL::bigint AS number,
           NULL::integer AS maximum
    FROM   mail_servers
    WHERE  organization_id = %(organization_id)s AND 'mail_server_failing' = ANY (%(kinds)s)
      AND  failing_since IS NOT NULL

    UNION  ALL
    (SELECT 'domain_failing', failing_since, domain, NULL, NULL, NULL
     FROM   custom_domains
     WHERE  organization_id = %(organization_id)s AND 'domain_failing' = ANY (%(kinds)s) AND failing_since IS NOT NULL
     LIMIT  %(of_kind_max)s)

    UNION  ALL
    (SELECT   'connection_off', NULL, name, id::text, NULL, NULL
     FROM     upstream_connections
     WHERE    organization_id = %(organization_id)s AND 'connection_off' = ANY (%(kinds)s)
       AND    NOT enabled AND off_reason IS NOT NULL
     ORDER BY name
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    (SELECT   'connection_failing', greatest(f.failing_since, i.last_sign_in_at), c.name, c.id::text, NULL, NULL
     FROM     upstream_connections c
     CROSS    JOIN LATERAL (
         SELECT max(used_at) AS last_sign_in_at
         FROM   identities
         WHERE  organization_id = c.organization_id AND connection_id = c.id) i
     CROSS    JOIN LATERAL (
         SELECT min(first_at) AS failing_since
         FROM   upstream_failures
         WHERE  organization_id = c.organization_id AND connection_id = c.id
           AND  (i.last_sign_in_at IS NULL
                 OR (last_at > i.last_sign_in_at AND problem <> ALL (%(of_one_sign_in)s)))) f
     WHERE    c.organization_id = %(organization_id)s AND 'connection_failing' = ANY (%(kinds)s)
       AND    c.enabled AND f.failing_since IS NOT NULL
     ORDER BY c.name
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    (SELECT   'mail_domain_failing', failing_since, domain, id::text, NULL, NULL
     FROM     domain_routes
     WHERE    organization_id = %(organization_id)s AND 'mail_domain_failing' = ANY (%(kinds)s)
       AND    failing_since IS NOT NULL
     ORDER BY domain
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    (SELECT   'webhook_off', off_at, name, id::text, NULL, NULL
     FROM     webhooks
     WHERE    organization_id = %(organization_id)s AND 'webhook_off' = ANY (%(kinds)s)
       AND    NOT is_active AND off_reason IS NOT NULL
     ORDER BY name
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    SELECT 'webhook_losing', NULL, w.name, w.id::text, NULL, NULL
    FROM   webhooks w
    JOIN   webhook_queues q ON q.webhook_id = w.id
    WHERE  w.organization_id = %(organization_id)s AND 'webhook_losing' = ANY (%(kinds)s) AND w.is_active
      AND  q.lost_at >= %(since)s

    UNION  ALL
    SELECT 'webhook_retrying', NULL, w.name, w.id::text, NULL, NULL
    FROM   webhooks w
    JOIN   webhook_queues q ON q.webhook_id = w.id
    WHERE  w.organization_id = %(organization_id)s AND 'webhook_retrying' = ANY (%(kinds)s) AND w.is_active
      AND  q.due_at IS NOT NULL

    UNION  ALL
    SELECT CASE WHEN NOT enabled THEN 'siem_off' WHEN failures > 0 THEN 'siem_failing' ELSE 'siem_lagging' END,
           CASE WHEN enabled AND failures > 0 THEN coalesce(last_success_at, created_at) END,
           NULL, NULL, CASE WHEN enabled AND failures = 0 THEN position END, NULL
    FROM   siem_streams
    WHERE  organization_id = %(organization_id)s AND 'siem_failing' = ANY (%(kinds)s)
      AND  (enabled OR off_reason IS NOT NULL)

    UNION  ALL
    (SELECT   'connection_key_ending', k.valid_until, c.name, c.id::text, NULL, NULL
     FROM     connection_keys k
     JOIN     upstream_connections c ON c.organization_id = k.organization_id AND c.id = k.connection_id
     WHERE    k.organization_id = %(organization_id)s AND 'connection_key_ending' = ANY (%(kinds)s)
       AND    k.is_active AND k.valid_until < %(ends_before)s
     ORDER BY k.valid_until
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    (SELECT   'connection_metadata_ending', metadata_valid_until, name, id::text, NULL, NULL
     FROM     upstream_connections
     WHERE    organization_id = %(organization_id)s AND 'connection_metadata_ending' = ANY (%(kinds)s) AND enabled
       AND    metadata_valid_until
              < CASE WHEN metadata_url IS NULL THEN %(ends_before)s ELSE %(address_ends_before)s END
     ORDER BY metadata_valid_until
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    (SELECT   'saml_certificate_ending', k.valid_until, s.name, s.slug, NULL, NULL
     FROM     saml_certificates k
     JOIN     services s ON s.organization_id = k.organization_id AND s.id = k.service_id
     JOIN     saml_configurations f ON f.organization_id = k.organization_id AND f.service_id = k.service_id
     WHERE    k.organization_id = %(organization_id)s AND 'saml_certificate_ending' = ANY (%(kinds)s)
       AND    k.is_active AND k.valid_until < %(ends_before)s AND f.enabled
     ORDER BY k.valid_until
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    SELECT 'owner_without_second_factor', NULL, NULL, NULL, NULL, NULL
    FROM   memberships m
    JOIN   users u ON u.id = m.user_id
    WHERE  m.organization_id = %(organization_id)s AND 'owner_without_second_factor' = ANY (%(kinds)s)
      AND  m.role = 'owner' AND u.mfa_enabled_at IS NULL
      AND  NOT EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id AND p.verifies_user)

    UNION  ALL
    SELECT 'seats_used', NULL, NULL, NULL, total.members, total.seats
    FROM   (SELECT coalesce((SELECT t.members FROM membership_totals t
                             WHERE  t.organization_id = %(organization_id)s), 0) AS members,
                   CASE WHEN o.max_users IS NOT NULL THEN o.max_users
                        WHEN t.id IS NULL THEN %(default_seats)s
                        ELSE t.default_max_users END AS seats
            FROM   organizations o
            LEFT   JOIN tiers t ON t.id = o.tier_id
            WHERE  o.id = %(organization_id)s AND 'seats_used' = ANY (%(kinds)s)) AS total
    WHERE  total.members * 100 >= total.seats * %(seats_percent)s AND total.seats > 0

    UNION  ALL
    (SELECT   'product_offered', c.offer_expires_at, s.name, s.client_id::text, NULL, NULL
     FROM     service_customers c
     JOIN     services s      ON s.organization_id = c.vendor_id AND s.id = c.service_id
     JOIN     organizations v ON v.id = c.vendor_id
     WHERE    c.offered_to = %(organization_id)s AND 'product_offered' = ANY (%(kinds)s)
       AND    c.accepted_at IS NULL AND c.offer_expires_at > %(now)s AND v.status = 'active'
     ORDER BY c.offer_expires_at
     LIMIT    %(of_kind_max)s)

    UNION  ALL
    SELECT 'invitations_expired', NULL, NULL, NULL, ended.number, NULL
    FROM   (SELECT count(*) AS number
            FROM   (SELECT
                    FROM   invitations i
                    WHERE  i.organization_id = %(organization_id)s AND 'invitations_expired' = ANY (%(kinds)s)
                      AND  i.status = 'expired' AND i.created_at >= %(invited_since)s
                      AND  i.expires_at >= %(expired_since)s
                      AND  NOT EXISTS (SELECT FROM invitations later
                                       WHERE  later.organization_id = i.organization_id AND later.email = i.email
                                         AND  later.created_at > i.created_at)
                    LIMIT  %(counted_max)s) AS one) AS ended
    WHERE  ended.number > 0
"""
# What has to stand in a log for a matter that may be one: statements of their own, since the logs of a cluster lie on
# other nodes than what they are about.
_IN_LOGS: Final[PartialTable[AttentionKind, LiteralString]] = PartialTable(
    {
        AttentionKind.WEBHOOK_LOSING: """
        SELECT true
        FROM   webhook_deliveries
        WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s::uuid
        AND    NOT delivered AND next_retry_at IS NULL AND created_at >= %(since)s AND id >= %(first_id)s
        LIMIT  1
    """,
        AttentionKind.WEBHOOK_RETRYING: """
        SELECT true
        FROM   (SELECT   delivery_id
                FROM     webhook_attempts
                WHERE    organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s::uuid
                AND      error IS NOT NULL AND attempted_at >= %(since)s AND id >= %(first_id)s
                ORDER BY attempted_at DESC
                LIMIT    100) AS newest
        JOIN   webhook_deliveries d
               ON d.organization_id = %(organization_id)s AND d.id = newest.delivery_id AND d.id >= %(first_kept_id)s
        WHERE  NOT d.delivered AND d.next_retry_at IS NOT NULL
        LIMIT  1
    """,
        # The id of an entry says when it was written.
        AttentionKind.SIEM_LAGGING: """
        SELECT entry_id < %(lagging_id)s
        FROM   audit_seals
        WHERE  organization_id = %(organization_id)s AND position > %(position)s
        ORDER BY position
        LIMIT  1
    """,
    }
)


class PostgresOverviews(Aggregate):
    """The port `Overviews`."""

    def steps(self, organization_id: UUID, user_id: UUID) -> SetupSteps:
        return self._only(SetupSteps, STEPS, {"organization_id": organization_id, "user_id": user_id})

    def attention_items(
        self, organization_id: UUID, kinds: Sequence[AttentionKind], *, default_seats: int, of_kind_max: int
    ) -> Sequence[AttentionItem]:
        now = self._transaction.now
        since = now - LOST_WITHIN
        expired_since = now - EXPIRED_WITHIN
        found = self._all(
            _item,
            MATTERS,
            {
                "organization_id": organization_id,
                "kinds": [kind.value for kind in kinds],
                "of_kind_max": of_kind_max,
                "since": since,
                "of_one_sign_in": OF_ONE_SIGN_IN,
                "ends_before": now + WARNING,
                "address_ends_before": now + WARNING_OF_ADDRESS,
                "default_seats": default_seats,
                "seats_percent": SEATS_PERCENT,
                "now": now,
                "expired_since": expired_since,
                "invited_since": expired_since - LIFETIME,
                "counted_max": COUNTED_MAX + 1,
            },
            prepare=False,
        )
        return self._confirmed(organization_id, found, of_kind_max)

    def _confirmed(
        self, organization_id: UUID, found: Sequence[AttentionItem], of_kind_max: int
    ) -> Sequence[AttentionItem]:
        """Return the matters without those that the logs do not know of, in the order of their names."""
        now = self._transaction.now
        since = now - LOST_WITHIN
        values = {
            "organization_id": organization_id,
            "since": since,
            "first_id": first_id_since(since),
            "first_kept_id": first_id_since(now - RETENTION),
            "lagging_id": first_id_at(now - LAG),
        }
        asked = {
            one: self._defer_value_or_none(in_log, values | {"webhook_id": one.target, "position": one.number})
            for one in sorted(found, key=lambda one: one.name or "")
            if (in_log := _IN_LOGS.get(one.kind)) is not None
        }
        # The position of a stream is for the statement alone.
        known = [replace(one, number=None) for one, is_known in asked.items() if is_known()]
        return [
            *(one for one in found if one not in asked),
            *(one for kind in _IN_LOGS for one in [one for one in known if one.kind is kind][:of_kind_max]),
        ]


def _item(*, kind: str, **columns: Any) -> AttentionItem:
    return AttentionItem(kind=AttentionKind(kind), **columns)
