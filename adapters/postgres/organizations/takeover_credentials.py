"""What was made with the power of takeovers, in the tables of credentials, and customers that were claimed with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.organizations.departures import label_of
from adapters.postgres.organizations.takeover_entries import ACTING, acting_values
from adapters.postgres.transaction import Aggregate
from core.organizations.departures import MadeCredentialKind
from core.organizations.takeover_claims import ClaimedCustomer
from core.organizations.takeover_credentials import EndedKind, MadeLink, TakenBackPlace
from core.organizations.takeovers import Acting, MadeThing, SetUpCustomer
from core.services.services import Service

# Of rows `t` that name who made them when.
_MADE_SINCE: Final = "t.organization_id = a.organization_id AND t.created_by = a.user_id AND t.created_at >= a.since"
# Of rows that name who made them or let them lead elsewhere; without the time of that, the last change counts.
_SET_SINCE: Final = """
    t.organization_id = a.organization_id AND t.made_by = a.user_id AND coalesce(t.made_at, t.updated_at) >= a.since
"""
# What a token did first to a member of a group says what was before. A place ends whose authority is deleted by now.
# What is taken back is forgotten, so that the next call takes what is left.
_TAKE_BACK_PLACES: Final = f"""
    WITH first AS MATERIALIZED (
        SELECT   DISTINCT ON (r.object_id, r.user_id)
                 r.organization_id, r.object_id AS group_id, r.user_id, r.act, r.authority_id, r.gives_products
        FROM     {ACTING}
        JOIN     recent_acts r ON r.organization_id = a.organization_id AND r.credential_id = a.credential_id
                              AND r.act <> 'linked'
        ORDER BY r.object_id, r.user_id, r.number
        LIMIT    %(limit)s),
      forgotten AS (
        DELETE FROM recent_acts r USING {ACTING}, first
        WHERE  r.organization_id = a.organization_id AND r.credential_id = a.credential_id
          AND  r.act <> 'linked' AND r.organization_id = first.organization_id
          AND  r.object_id = first.group_id AND r.user_id = first.user_id),
      out AS (
        DELETE FROM directory_group_members i USING first
        WHERE  i.organization_id = first.organization_id AND i.group_id = first.group_id AND i.user_id = first.user_id
          AND  (first.act = 'put_in'
                OR NOT EXISTS (SELECT FROM directory_authorities w
                               WHERE  w.organization_id = first.organization_id AND w.id = first.authority_id))
        RETURNING i.organization_id, i.group_id, i.user_id),
      back AS (
        INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id, gives_products)
        SELECT first.organization_id, first.group_id, first.user_id, first.authority_id, first.gives_products
        FROM   first
        JOIN   directory_groups g      ON g.organization_id = first.organization_id AND g.id = first.group_id
        JOIN   memberships m           ON m.organization_id = first.organization_id AND m.user_id = first.user_id
        JOIN   directory_authorities w ON w.organization_id = first.organization_id AND w.id = first.authority_id
        WHERE  first.act <> 'put_in'
        ON CONFLICT (group_id, user_id) DO UPDATE
        SET    authority_id = excluded.authority_id, gives_products = excluded.gives_products
        RETURNING organization_id, group_id, user_id)
    SELECT    first.organization_id, first.group_id, first.user_id, out.user_id IS NOT NULL AS is_out,
              back.user_id IS NOT NULL AS is_back
    FROM      first
    LEFT JOIN out  ON out.group_id = first.group_id AND out.user_id = first.user_id
    LEFT JOIN back ON back.group_id = first.group_id AND back.user_id = first.user_id
    ORDER BY  first.organization_id, first.group_id, first.user_id
"""
# Of vendors, for whose customers something was made that names its maker.
_SET_UP_CUSTOMERS: Final = f"""
    SELECT   c.vendor_id, c.id AS customer_id, i.id AS internal_id, a.user_id, min(a.since) AS since
    FROM     {ACTING}
    JOIN     service_customers c ON c.vendor_id = a.organization_id
    JOIN     organizations i     ON i.internal_of = c.id
    WHERE    a.user_id IS NOT NULL AND (%(after)s::uuid IS NULL OR i.id > %(after)s)
      AND    (EXISTS (SELECT FROM setup_links t
                      WHERE  t.organization_id = i.id AND t.created_by = a.user_id AND t.created_at >= a.since)
              OR EXISTS (SELECT FROM scim_tokens t
                         WHERE  t.organization_id = i.id AND t.created_by = a.user_id AND t.created_at >= a.since)
              OR EXISTS (SELECT FROM upstream_connections t
                         WHERE  t.organization_id = i.id AND t.made_by = a.user_id
                           AND  coalesce(t.made_at, t.updated_at) >= a.since))
    GROUP BY c.id, i.id, a.user_id
    ORDER BY i.id, a.user_id
    LIMIT    %(limit)s
"""


_OF_MAKER: Final = f"USING {ACTING} WHERE {_MADE_SINCE} RETURNING t.organization_id, t.id"
_END: Final[dict[EndedKind, LiteralString]] = {
    EndedKind.INVITATION: f"""
        UPDATE    invitations t
        SET       status = 'cancelled', answered_at = %(now)s, token_sealed = NULL
        FROM      {ACTING}
        WHERE     t.organization_id = a.organization_id AND t.invited_by = a.user_id AND t.created_at >= a.since
          AND     t.status = 'pending'
        RETURNING t.organization_id, t.id, t.email AS label
    """,
    EndedKind.SETUP_LINK: f"DELETE FROM setup_links t {_OF_MAKER}, array_to_string(t.parts, ', ') AS label",
    EndedKind.ORGANIZATION_KEY: f"""
        DELETE FROM organization_keys t
        {_OF_MAKER}, coalesce(t.prefix, 'without a secret') AS label, t.name AS key_name, t.prefix AS key_prefix
    """,
    EndedKind.GROUP_RULE: f"""
        DELETE    FROM group_rules t
        USING     {ACTING}
        WHERE     t.organization_id = a.organization_id AND t.made_by = a.user_id AND t.created_at >= a.since
        RETURNING t.organization_id, t.id, 'of ' || coalesce(t.group_id, t.connection_id)::text AS label,
                  t.role, coalesce(t.connection_id::text, 'scim') AS source,
                  coalesce(t.group_id::text, t.asserted_group) AS "group"
    """,
    EndedKind.SCIM_TOKEN: f"""
        DELETE FROM scim_tokens t
        {_OF_MAKER}, t.prefix AS label, t.id::text AS scim_token_id, t.name AS scim_token_name,
        t.prefix AS scim_token_prefix
    """,
    EndedKind.API_KEY: f"""
        DELETE    FROM api_keys t
        USING     {ACTING}, services s
        WHERE     {_MADE_SINCE} AND s.organization_id = t.organization_id AND s.id = t.service_id
        RETURNING t.organization_id, t.id, t.prefix || ' of the service ' || s.slug AS label,
                  t.id::text AS api_key_id, s.id::text AS service_id, s.slug AS service_slug, t.name,
                  t.permissions
    """,
    EndedKind.SIEM_STREAM: f"""
        UPDATE    siem_streams t
        SET       enabled = false, off_reason = %(reason)s, due_at = NULL, leased_until = NULL,
                  updated_at = %(now)s
        FROM      {ACTING}
        WHERE     {_SET_SINCE} AND t.enabled
        RETURNING t.organization_id, t.id, 'to ' AS label, t.endpoint AS url, t.provider
    """,
    EndedKind.WEBHOOK: f"""
        UPDATE    webhooks t
        SET       is_active = false, off_reason = %(reason)s, off_at = %(now)s, updated_at = %(now)s
        FROM      {ACTING}
        WHERE     {_SET_SINCE} AND t.is_active
        RETURNING t.organization_id, t.id, 'to ' AS label, t.url, t.id::text AS webhook_id,
                  t.name AS webhook_name
    """,
    EndedKind.CONNECTION: f"""
        WITH off AS (
            UPDATE    upstream_connections t
            SET       enabled = false, off_reason = %(reason)s, is_vouched_for = false, updated_at = %(now)s
            FROM      {ACTING}
            WHERE     {_SET_SINCE}
            RETURNING t.organization_id, t.id, t.issuer, t.name),
          unlinked AS (
            DELETE FROM identities i USING off
            WHERE  i.organization_id = off.organization_id AND i.connection_id = off.id
              AND  i.linked_at >= %(first)s),
          forgotten AS (
            DELETE FROM departed_identities d USING off
            WHERE  d.organization_id = off.organization_id AND d.connection_id = off.id
              AND  d.linked_at >= %(first)s)
        SELECT organization_id, id, 'to ' AS label, coalesce(issuer, '') AS url, id::text AS provider_id,
               name AS provider_name, issuer
        FROM   off
    """,
    EndedKind.WORKLOAD: f"""
        DELETE FROM workloads t
        {_OF_MAKER}, 'at ' AS label, t.issuer AS url, t.name, t.service_id::text, t.key_id::text
    """,
}


class PostgresTakeoverCredentials(Aggregate):
    """The port `TakeoverCredentials`."""

    def end(self, kind: EndedKind, acting: Sequence[Acting], *, reason: str) -> Sequence[MadeThing]:
        first = min(one.since for one in acting)
        return self._ended(kind, _END[kind], acting, reason=reason, first=first)

    def replace_client_secrets(self, acting: Sequence[Acting], secret_hash: bytes) -> Sequence[MadeThing]:
        # One that was made since, and kept when another person replaced it.
        self._connection.execute_later(
            f"""
            UPDATE    services t
            SET       previous_secret_hash = NULL, previous_secret_expires_at = NULL, updated_at = %(now)s
            FROM      {ACTING}
            WHERE     t.organization_id = a.organization_id AND t.previous_secret_hash IS NOT NULL
              AND     coalesce(t.client_secret_made_at, t.updated_at) >= a.since
            """,
            acting_values(acting) | {"now": self._transaction.now},
        )
        return self._ended(
            MadeCredentialKind.CLIENT_SECRET,
            f"""
            UPDATE    services t
            SET       client_secret_hash = %(secret_hash)s, client_secret_made_by = NULL,
                      previous_secret_hash = NULL, previous_secret_expires_at = NULL, updated_at = %(now)s
            FROM      {ACTING}
            WHERE     t.organization_id = a.organization_id AND t.client_secret_made_by = a.user_id
              AND     coalesce(t.client_secret_made_at, t.updated_at) >= a.since AND t.client_secret_hash IS NOT NULL
            RETURNING t.organization_id, t.id, 'of the service ' || t.slug AS label, t.slug AS service_slug
            """,
            acting,
            secret_hash=secret_hash,
        )

    def set_up_customers(self, acting: Sequence[Acting], *, after: UUID | None, limit: int) -> Sequence[SetUpCustomer]:
        return self._all(SetUpCustomer, _SET_UP_CUSTOMERS, acting_values(acting) | {"after": after, "limit": limit})

    def take_back_places(self, acting: Sequence[Acting], *, limit: int) -> Sequence[TakenBackPlace]:
        return self._all(TakenBackPlace, _TAKE_BACK_PLACES, acting_values(acting) | {"limit": limit})

    def made_links(self, acting: Sequence[Acting], *, limit: int) -> Sequence[MadeLink]:
        return self._all(
            MadeLink,
            f"""
            SELECT   DISTINCT r.organization_id, r.object_id AS service_id, r.user_id
            FROM     {ACTING}
            JOIN     recent_acts r ON r.organization_id = a.organization_id AND r.credential_id = a.credential_id
                                  AND r.act = 'linked'
            ORDER BY r.organization_id, r.object_id, r.user_id
            LIMIT    %(limit)s
            """,
            acting_values(acting) | {"limit": limit},
        )

    def end_made_links(self, organization_id: UUID, service_id: UUID, user_ids: Sequence[UUID]) -> None:
        values = {"organization_id": organization_id, "service_id": service_id, "user_ids": list(user_ids)}
        self._connection.execute_later(
            """
            DELETE FROM service_users
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  user_id = ANY (%(user_ids)s) AND origin = 'key'
            """,
            values,
        )
        self._connection.execute_later(
            """
            DELETE FROM recent_acts
            WHERE  organization_id = %(organization_id)s AND act = 'linked' AND object_id = %(service_id)s
              AND  user_id = ANY (%(user_ids)s)
            """,
            values,
        )

    def _ended(
        self, kind: str, statement: LiteralString, acting: Sequence[Acting], **given: Any
    ) -> Sequence[MadeThing]:
        rows = self._rows(statement, acting_values(acting) | {"now": self._transaction.now} | given)
        return [_made(kind, row) for row in sorted(rows, key=_place)]


def _place(row: Mapping[str, Any]) -> tuple[UUID, UUID]:
    return row["organization_id"], row["id"]


def _made(kind: str, row: dict[str, Any]) -> MadeThing:
    return MadeThing(
        kind=kind,
        organization_id=row.pop("organization_id"),
        id=row.pop("id"),
        label=label_of(row.pop("label"), row.pop("url", None)),
        recorded=row,
    )


class PostgresTakeoverClaims(Aggregate):
    """The port `TakeoverClaims`."""

    def claimed_at(self, organization_ids: Sequence[UUID], *, since: datetime) -> Mapping[UUID, datetime]:
        if not organization_ids:
            return {}
        rows = self._rows(
            "SELECT id, claimed_at FROM organizations WHERE id = ANY (%s) AND claimed_at >= %s",
            (list(organization_ids), since),
        )
        return {row["id"]: row["claimed_at"] for row in rows}

    def claimed_by_link(self, service: Service, customer_id: UUID, *, mailed_at: datetime) -> UUID | None:
        return self._value_or_none(
            """
            SELECT c.organization_id
            FROM   customer_claims k
            JOIN   service_customers c ON c.vendor_id = k.vendor_id AND c.id = k.customer_id
            WHERE  k.vendor_id = %s AND k.customer_id = %s AND k.created_at = %s AND k.claimed_at IS NOT NULL
            """,
            (service.organization_id, customer_id, mailed_at),
        )

    def customers_of(self, organization_id: UUID) -> list[ClaimedCustomer]:
        return list(
            self._all(
                ClaimedCustomer,
                """
                SELECT   c.id AS customer_id, c.vendor_id, s.client_id, s.slug AS service_slug, c.external_id,
                         c.made_name
                FROM     service_customers c
                JOIN     services s ON s.organization_id = c.vendor_id AND s.id = c.service_id
                WHERE    c.organization_id = %s AND c.made_name IS NOT NULL
                ORDER BY c.id
                """,
                (organization_id,),
            )
        )

    def move(self, customer: ClaimedCustomer, organization_id: UUID, new_id: UUID) -> None:
        values = {
            "customer_id": customer.customer_id,
            "vendor_id": customer.vendor_id,
            "organization_id": organization_id,
            "new_id": new_id,
        }
        for statement in (
            "DELETE FROM customer_claims WHERE vendor_id = %(vendor_id)s AND customer_id = %(customer_id)s",
            """
            DELETE FROM customer_assignments
            WHERE  organization_id = %(organization_id)s AND customer_id = %(customer_id)s
            """,
            """
            DELETE FROM customer_users
            WHERE  organization_id = %(organization_id)s AND customer_id = %(customer_id)s
            """,
            """
            UPDATE service_customers
            SET    organization_id = %(new_id)s, made_name = NULL, vendor_setup = '{}', customer_paused_at = NULL,
                   access = 'members', shares_directory = false, groups = '{}', hidden = false
            WHERE  organization_id = %(organization_id)s AND id = %(customer_id)s
            """,
        ):
            self._connection.execute_later(statement, values)
