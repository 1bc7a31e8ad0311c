"""What organizations gave to users, and the credentials that users have made for them, in the tables of both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, LiteralString
from urllib.parse import urlsplit
from uuid import UUID

from adapters.postgres.admissions import is_shown
from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.transaction import Aggregate
from core.organizations.departures import EndedLink, EndedSessions, LinkOrigin, MadeCredential, MadeCredentialKind
from core.tables import PartialTable

UNPAID: Final = """
    NOT EXISTS (SELECT FROM subscriptions p
                WHERE  p.service_id = l.service_id AND p.user_id = l.user_id
                  AND  p.billing_subscription_id IS NOT NULL AND p.status IN ('active', 'past_due'))
"""
# A link that its user has not confirmed: by using it, or by confirming the membership with which it came.
UNCONFIRMED: Final = """
    (l.last_login_at IS NULL
     AND NOT (l.origin = 'membership'
              AND EXISTS (SELECT FROM memberships k
                          WHERE  k.organization_id = l.organization_id AND k.user_id = l.user_id
                            AND  k.confirmed_at IS NOT NULL)))
"""
# The sessions of users that end when they leave the organization.
SESSIONS_THAT_END: Final = f"""
    s.user_id = ANY (%(user_ids)s) AND s.revoked_at IS NULL AND s.expires_at > %(now)s
    AND ((s.confined_to = %(organization_id)s AND s.connection_id IS NOT NULL)
         OR (s.organization_id = %(organization_id)s
             AND EXISTS (SELECT FROM service_users l
                         WHERE  l.organization_id = %(organization_id)s AND l.service_id = s.service_id
                           AND  l.user_id = s.user_id AND l.origin = ANY (%(origins)s) AND {UNPAID}))
         -- At services that the organization uses as a customer, by the membership.
         OR ('membership' = ANY (%(origins)s)
             AND s.customer_id = ANY (ARRAY(SELECT id FROM service_customers
                                            WHERE  organization_id = %(organization_id)s)))
         -- By a vendor's setup for a customer, of people who are no members of the customer.
         OR ('membership' = ANY (%(origins)s)
             AND s.customer_id = ANY (ARRAY(SELECT internal_of FROM organizations WHERE id = %(organization_id)s))
             AND NOT EXISTS (SELECT FROM service_customers c
                             JOIN   memberships k ON k.organization_id = c.organization_id AND k.user_id = s.user_id
                             WHERE  c.id = s.customer_id))
         -- At services of its own that are closed to strangers, whatever the link came with.
         OR ('membership' = ANY (%(origins)s) AND s.organization_id = %(organization_id)s AND s.customer_id IS NULL
             AND EXISTS (SELECT FROM services v WHERE v.id = s.service_id AND v.access <> 'everyone')
             AND NOT EXISTS (SELECT FROM service_users l
                             WHERE  l.service_id = s.service_id AND l.user_id = s.user_id AND l.origin = 'key')))
"""
_SESSIONS: Final = f"""
    WITH ended AS (
        UPDATE sessions s
        SET    revoked_at = %(now)s
        WHERE  {SESSIONS_THAT_END}
        RETURNING s.user_id)
    SELECT   u.id AS user_id, u.email, count(*) AS sessions
    FROM     ended
    JOIN     users u ON u.id = ended.user_id
    GROUP BY u.id, u.email
    ORDER BY u.id
"""
# The trigger on the table of billing queues what the provider has to end.
_END: Final = """
    , billed AS (
        DELETE FROM billing_subscriptions b USING ending e
        WHERE  b.organization_id = e.organization_id AND b.service_id = e.service_id AND b.user_id = e.user_id),
      ended AS (
        DELETE FROM subscriptions b USING ending e
        WHERE  b.organization_id = e.organization_id AND b.service_id = e.service_id AND b.user_id = e.user_id
        RETURNING b.id, b.service_id, b.user_id, b.status),
      unlinked AS (
        DELETE FROM service_users l USING ending e
        WHERE  l.organization_id = e.organization_id AND l.service_id = e.service_id AND l.user_id = e.user_id)
    SELECT    e.organization_id, b.id AS subscription_id
    FROM      ending e
    LEFT JOIN ended b ON b.service_id = e.service_id AND b.user_id = e.user_id AND b.status IN ('active', 'past_due')
"""
_LINK: Final = "SELECT l.organization_id, l.service_id, l.user_id FROM service_users l"
_LINKS: Final = f"""
    WITH ending AS MATERIALIZED (
        {_LINK}
        WHERE  l.organization_id = %(organization_id)s AND l.user_id = ANY (%(user_ids)s)
          AND  l.origin = ANY (%(origins)s) AND {UNPAID}
        FOR    UPDATE OF l)
    {_END}
"""
_UNCONFIRMED_LINKS: Final = f"""
    WITH ending AS MATERIALIZED (
        {_LINK}
        WHERE  l.user_id = %(user_id)s AND {UNCONFIRMED} AND {UNPAID}
        FOR    UPDATE OF l)
    {_END}
"""
_OWN_LINK: Final = f"""
    WITH ending AS MATERIALIZED (
        {_LINK}
        WHERE  l.organization_id = %(organization_id)s AND l.service_id = %(service_id)s AND l.user_id = %(user_id)s
          AND  l.origin = 'self'
          AND  NOT EXISTS (SELECT FROM subscriptions p
                           WHERE  p.service_id = l.service_id AND p.user_id = l.user_id
                             AND  p.status IN ('active', 'past_due'))
        FOR    UPDATE OF l)
    {_END}
"""
_LINKS_SINCE: Final = f"""
    WITH ending AS MATERIALIZED (
        {_LINK}
        WHERE  l.user_id = %(user_id)s AND (l.first_login_at >= %(since)s OR {UNCONFIRMED})
        FOR    UPDATE OF l)
    {_END}
"""
_UNLINK: Final = """
    WITH unlinked AS (
        DELETE FROM identities
        WHERE  organization_id = %(organization_id)s AND user_id = ANY (%(user_ids)s) AND connection_id IS NOT NULL
        RETURNING connection_id, subject, user_id, linked_at)
    INSERT INTO departed_identities (organization_id, connection_id, subject, user_id, linked_at, left_at)
    SELECT %(organization_id)s, connection_id, subject, user_id, linked_at, %(now)s
    FROM   unlinked
    ON CONFLICT (organization_id, connection_id, subject) DO UPDATE
    SET    user_id = excluded.user_id, linked_at = excluded.linked_at, left_at = excluded.left_at
"""
_UNLINK_FOR_GOOD: Final = """
    WITH forgotten AS (
        DELETE FROM departed_identities
        WHERE  organization_id = %(organization_id)s AND user_id = ANY (%(user_ids)s))
    DELETE FROM identities
    WHERE  organization_id = %(organization_id)s AND user_id = ANY (%(user_ids)s) AND connection_id IS NOT NULL
"""


class PostgresDepartures(Aggregate):
    """The port `Departures`."""

    def end_sessions(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedSessions]:
        # Locked, because a sign-in that completes at this moment makes a link and a session.
        self._connection.execute(
            "SELECT FROM users WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE", (list(user_ids),)
        )
        values = {**_values(organization_id, user_ids, origins), "now": self._transaction.now}
        return self._all(EndedSessions, _SESSIONS, values)

    def end_links(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedLink]:
        return self._all(EndedLink, _LINKS, _values(organization_id, user_ids, origins))

    def end_unconfirmed_links(self, user_id: UUID) -> Sequence[EndedLink]:
        return self._all(EndedLink, _UNCONFIRMED_LINKS, {"user_id": user_id})

    def lock_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            SELECT FROM service_users
            WHERE  organization_id = %s AND service_id = %s AND user_id = %s
            FOR    UPDATE
            """,
            (organization_id, service_id, user_id),
        )

    def end_own_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Sequence[EndedLink]:
        return self._all(
            EndedLink,
            _OWN_LINK,
            {"organization_id": organization_id, "service_id": service_id, "user_id": user_id},
        )

    def end_links_since(self, user_id: UUID, since: datetime) -> Sequence[EndedLink]:
        return self._all(EndedLink, _LINKS_SINCE, {"user_id": user_id, "since": since})

    def unlink_identities(self, organization_id: UUID, user_ids: Sequence[UUID], *, remembers: bool) -> None:
        values = {"organization_id": organization_id, "user_ids": list(user_ids), "now": self._transaction.now}
        self._connection.execute_later(_UNLINK if remembers else _UNLINK_FOR_GOOD, values)

    def organization_of_mail_domain(self, domain: str) -> UUID | None:
        return self._value_or_none(
            f"SELECT organization_id FROM domain_routes WHERE domain = %(domain)s AND {IN_FORCE}",
            {"domain": domain, **in_force_at(self._transaction.now)},
        )

    def unconfirm(self, user_id: UUID) -> None:
        self._connection.execute_later(
            # An organization is never without its owner.
            """
            UPDATE memberships
            SET    confirmed_at = NULL
            WHERE  user_id = %s AND confirmed_at IS NOT NULL AND role <> 'owner'
            """,
            (user_id,),
        )
        self._connection.execute_later(
            "UPDATE service_users SET last_login_at = NULL WHERE user_id = %s AND last_login_at IS NOT NULL", (user_id,)
        )

    def is_waiting(self, user_id: UUID, organization_slug: str, service_slug: str | None) -> bool:
        return self._value(
            f"""
            SELECT EXISTS (SELECT FROM memberships m
                           JOIN   organizations o ON o.id = m.organization_id AND o.status <> 'deleting'
                                                 AND {is_shown("o")}
                           WHERE  m.user_id = %(user_id)s AND o.slug = %(organization_slug)s
                             AND  m.confirmed_at IS NULL)
                OR EXISTS (SELECT FROM service_users l
                           JOIN   organizations o ON o.id = l.organization_id AND o.status <> 'deleting'
                           JOIN   services s      ON s.organization_id = o.id AND s.id = l.service_id
                           WHERE  l.user_id = %(user_id)s AND o.slug = %(organization_slug)s
                             AND  s.slug = %(service_slug)s AND l.last_login_at IS NULL)
            """,
            {"user_id": user_id, "organization_slug": organization_slug, "service_slug": service_slug},
        )


def _values(
    organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
) -> dict[str, UUID | list[UUID] | list[str]]:
    return {
        "organization_id": organization_id,
        "user_ids": list(user_ids),
        "origins": [origin.value for origin in origins],
    }


# The statements that store the maker of a kind.
_SET_MAKER: Final[PartialTable[MadeCredentialKind, LiteralString]] = PartialTable(
    {
        MadeCredentialKind.SIEM_STREAM: (
            "UPDATE siem_streams SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.WEBHOOK: (
            "UPDATE webhooks SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.CONNECTION: (
            "UPDATE upstream_connections SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.CLIENT_SECRET: (
            "UPDATE services SET client_secret_made_by = %s, client_secret_made_at = %s"
            " WHERE organization_id = %s AND id = %s"
        ),
    }
)
# Every valid credential that names its maker. Of a URL only the host is shown: its path or query may contain a secret.
VALID: Final = """
    SELECT 'SCIM token' AS kind, organization_id, created_by AS made_by, prefix AS label, NULL AS url,
           NULL::uuid AS service_id, NULL::text[] AS permissions, maker_role AS kept_role,
           maker_permissions AS kept_permissions
    FROM   scim_tokens
    WHERE  expires_at IS NULL OR expires_at > %(now)s
    UNION  ALL
    SELECT 'API key', k.organization_id, k.created_by, k.prefix || ' of the service ' || s.slug, NULL, s.id,
           k.permissions, NULL, NULL
    FROM   api_keys k
    JOIN   services s ON s.organization_id = k.organization_id AND s.id = k.service_id
    WHERE  k.expires_at IS NULL OR k.expires_at > %(now)s
    UNION  ALL
    SELECT 'workload', w.organization_id, w.created_by, 'of the service ' || s.slug || ', at ', w.issuer, s.id,
           NULL, NULL, NULL
    FROM   workloads w
    JOIN   services s ON s.organization_id = w.organization_id AND s.id = w.service_id
    UNION  ALL
    SELECT 'SIEM stream', organization_id, made_by, 'to ', endpoint, NULL, NULL, NULL, NULL
    FROM   siem_streams
    UNION  ALL
    SELECT 'webhook', organization_id, made_by, 'to ', url, NULL, NULL, NULL, NULL
    FROM   webhooks
    UNION  ALL
    SELECT 'connection', organization_id, made_by, 'to ', coalesce(issuer, ''), NULL, NULL, NULL, NULL
    FROM   upstream_connections
    UNION  ALL
    SELECT 'client secret', organization_id, client_secret_made_by, 'of the service ' || slug, NULL, id, NULL, NULL,
           NULL
    FROM   services
    WHERE  client_secret_hash IS NOT NULL
"""
OF_MAKERS: Final = f"""
    SELECT   c.kind, c.label, c.url, u.email AS maker_email
    FROM     ({VALID}) AS c
    JOIN     users u ON u.id = c.made_by
    WHERE    c.organization_id = %(organization_id)s AND c.made_by = ANY (%(user_ids)s)
    ORDER BY u.email, c.kind, c.label, c.url
"""


class PostgresMadeCredentials(Aggregate):
    """The port `MadeCredentials`."""

    def set_maker(self, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID) -> None:
        statement = _SET_MAKER.get(kind)
        assert statement is not None, f"a credential of this kind keeps the maker that made it: {kind.value}"
        self._connection.execute_later(statement, (user_id, self._transaction.now, organization_id, credential_id))

    def of_makers(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[MadeCredential]:
        return self._all(
            _credential,
            OF_MAKERS,
            {"organization_id": organization_id, "user_ids": list(user_ids), "now": self._transaction.now},
        )


def label_of(label: str, url: str | None) -> str:
    """Return the label of a credential, with the host of its URL if it has one."""
    if url is None:
        return label
    try:
        host = urlsplit(url).hostname
    except ValueError:
        # The entity id of a SAML provider may be any text.
        host = None
    return label + (host or "a provider without an address")


def _credential(*, kind: str, label: str, url: str | None, maker_email: str) -> MadeCredential:
    return MadeCredential(kind=MadeCredentialKind(kind), label=label_of(label, url), maker_email=maker_email)
