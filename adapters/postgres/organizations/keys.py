"""The keys of organizations in their table, and what they have made, in the tables of that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, prefixed, taken, values
from adapters.postgres.organizations.access import maker
from adapters.postgres.organizations.organizations import organization_row
from adapters.postgres.transaction import Aggregate
from core.organizations.access import Capability
from core.organizations.key_callers import KeyCaller, TokenOfKey
from core.organizations.keys import (
    EndedWithKey,
    MadeByKey,
    MadeByKeyKind,
    MadeByKeyPage,
    MadeOrganizationKey,
    OrganizationKey,
)
from core.organizations.organizations import Membership, Organization
from core.prefixed_tokens import PrefixedToken
from core.sessions.caller_limits import CallerLimits

# The key, its organization, and its maker as a member of it.
_CALLER: Final = f"""
           k.id AS key_id, k.name AS key_name, k.permissions, k.last_used_at, k.expires_at, k.created_at AS made_at,
           {prefixed(Organization, table="o", prefix="organization_")},
           {prefixed(Membership, table="m", prefix="membership_")},
           m.confirmed_at IS NULL AS is_unconfirmed, m.suspended_at IS NOT NULL AS is_suspended,
           r.permissions AS custom_permissions,
           u.email, u.email_verified_at, u.created_at AS user_created_at, u.disowned_at IS NOT NULL AS is_disowned
    FROM   organization_keys k
    JOIN   organizations o ON o.id = k.organization_id AND o.status <> 'deleting'
    JOIN   memberships m   ON m.organization_id = k.organization_id AND m.user_id = k.created_by
    JOIN   users u         ON u.id = k.created_by AND u.deactivated_at IS NULL AND u.locked_at IS NULL
    LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
"""
CALLERS: Final = f"""
    SELECT k.key_hash AS token_hash, k.has_second_factor,
           coalesce(k.is_phishing_resistant, true) AS is_phishing_resistant,
           NULL::uuid AS workload_id, NULL::uuid AS workload_maker_id, {_CALLER}
    WHERE  k.prefix = %s
"""
CALLERS_BY_TOKEN: Final = f"""
    SELECT ''::bytea AS token_hash, k.has_second_factor AND w.has_second_factor AS has_second_factor,
           coalesce(k.is_phishing_resistant AND w.is_phishing_resistant, true) AS is_phishing_resistant,
           w.id AS workload_id, w.created_by AS workload_maker_id, {_CALLER}
    JOIN   workloads w ON w.organization_id = k.organization_id AND w.key_id = k.id
    WHERE  k.organization_id = %s AND k.id = %s AND w.id = %s
"""


class PostgresOrganizationKeys(Aggregate):
    """The port `OrganizationKeys`."""

    def callers(self, key: PrefixedToken) -> Sequence[KeyCaller]:
        return self._callers(_caller, CALLERS, (key.prefix,))

    def callers_by_token(self, token: TokenOfKey) -> Sequence[KeyCaller]:
        return self._callers(_caller, CALLERS_BY_TOKEN, (token.organization_id, token.key_id, token.workload_id))

    def record_use(self, caller: KeyCaller, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE organization_keys
            SET    last_used_at = %s
            WHERE  id = (SELECT id
                         FROM   organization_keys
                         WHERE  organization_id = %s AND id = %s
                         FOR    NO KEY UPDATE SKIP LOCKED)
            """,
            (at, caller.organization_id, caller.key_id),
        )

    def add(
        self,
        organization_id: UUID,
        key: OrganizationKey,
        *,
        key_hash: bytes | None,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO organization_keys ({columns(OrganizationKey)}, organization_id, key_hash, created_by,
                                           has_second_factor, is_phishing_resistant)
            VALUES ({placeholders(OrganizationKey)}, %(organization_id)s, %(key_hash)s, %(created_by)s,
                    %(has_second_factor)s, %(is_phishing_resistant)s)
            """,
            {
                **values(key),
                "organization_id": organization_id,
                "key_hash": key_hash,
                "created_by": created_by,
                "has_second_factor": has_second_factor,
                "is_phishing_resistant": is_phishing_resistant,
            },
        )

    def of_organization(self, organization_id: UUID) -> Sequence[OrganizationKey]:
        return self._all(
            _key,
            f"""
            SELECT   {columns(OrganizationKey)}
            FROM     organization_keys
            WHERE    organization_id = %s
            ORDER BY created_at DESC, id DESC
            """,
            (organization_id,),
        )

    def with_makers(self, organization_id: UUID) -> Sequence[MadeOrganizationKey]:
        return self._all(
            _made,
            f"""
            SELECT   {prefixed(OrganizationKey, table="k", prefix="")}, u.email AS maker_email
            FROM     organization_keys k
            JOIN     users u ON u.id = k.created_by
            WHERE    k.organization_id = %s
            ORDER BY k.created_at DESC, k.id DESC
            """,
            (organization_id,),
        )

    def remove(self, organization_id: UUID, key_id: UUID) -> OrganizationKey | None:
        return self._one(
            _key,
            f"""
            DELETE FROM organization_keys
            WHERE     organization_id = %s AND id = %s
            RETURNING {columns(OrganizationKey)}
            """,
            (organization_id, key_id),
        )

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, OrganizationKey]]:
        return self._all(
            _key_of_organization,
            f"""
            DELETE FROM organization_keys
            WHERE     created_by = ANY (%(user_ids)s)
              AND     (%(organization_id)s::uuid IS NULL OR organization_id = %(organization_id)s)
            RETURNING organization_id, {columns(OrganizationKey)}
            """,
            {"user_ids": list(user_ids), "organization_id": organization_id},
        )


def _key(*, permissions: list[str], **columns: Any) -> OrganizationKey:
    return OrganizationKey(permissions=[Capability(permission) for permission in permissions], **columns)


def _made(*, maker_email: str, **columns: Any) -> MadeOrganizationKey:
    return MadeOrganizationKey(key=_key(**columns), maker_email=maker_email)


def _key_of_organization(*, organization_id: UUID, **columns: Any) -> tuple[UUID, OrganizationKey]:
    return organization_id, _key(**columns)


def _caller(**columns: Any) -> KeyCaller:
    organization = organization_row(**taken(columns, "organization_"))
    membership = Membership(**taken(columns, "membership_"))
    limits = CallerLimits(key_id=columns["key_id"], workload_maker_id=columns.pop("workload_maker_id"))
    maker_of_it = maker(columns["key_id"], organization, membership, limits, columns)
    return KeyCaller(
        organization_id=organization.id,
        organization_status=organization.status,
        organization=organization,
        membership=membership,
        maker=maker_of_it,
        **columns,
    )


# What was made for customers `c` of the organization is in their internal organizations `i`.
_OF_CUSTOMERS: Final = """
    service_customers c
    JOIN   organizations i ON i.internal_of = c.id
"""
_MADE: Final = f"""
    SELECT 'api_key' AS kind, k.id, k.name, s.slug AS service_slug, NULL::uuid AS customer_id, k.created_at AS made_at
    FROM   api_keys k
    JOIN   services s ON s.organization_id = k.organization_id AND s.id = k.service_id
    WHERE  k.organization_id = %(organization_id)s AND k.made_by_key = %(key_id)s
    UNION  ALL
    SELECT 'scim_token', id, name, NULL, NULL, created_at
    FROM   scim_tokens
    WHERE  organization_id = %(organization_id)s AND made_by_key = %(key_id)s
    UNION  ALL
    SELECT 'scim_token', t.id, t.name, s.slug, c.id, t.created_at
    FROM   {_OF_CUSTOMERS}
    JOIN   scim_tokens t ON t.organization_id = i.id AND t.made_by_key = %(key_id)s
    JOIN   services s    ON s.organization_id = c.vendor_id AND s.id = c.service_id
    WHERE  c.vendor_id = %(organization_id)s
    UNION  ALL
    SELECT 'setup_link', l.id, array_to_string(l.parts, ', '), s.slug, NULL, l.created_at
    FROM   setup_links l
    LEFT   JOIN services s ON s.organization_id = l.organization_id AND s.id = l.service_id
    WHERE  l.organization_id = %(organization_id)s AND l.made_by_key = %(key_id)s AND l.expires_at > %(now)s
    UNION  ALL
    SELECT 'setup_link', l.id, array_to_string(l.parts, ', '), s.slug, c.id, l.created_at
    FROM   {_OF_CUSTOMERS}
    JOIN   setup_links l ON l.organization_id = i.id AND l.made_by_key = %(key_id)s AND l.expires_at > %(now)s
    JOIN   services s    ON s.organization_id = c.vendor_id AND s.id = c.service_id
    WHERE  c.vendor_id = %(organization_id)s
"""
# At least one row, for the total.
_PAGE: Final = f"""
    WITH made AS MATERIALIZED ({_MADE})
    SELECT    total.things AS total, page.*
    FROM      (SELECT count(*) AS things FROM made) AS total
    LEFT JOIN LATERAL (SELECT   kind, id, name, service_slug, customer_id, made_at
                       FROM     made
                       ORDER BY made_at DESC, id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.made_at DESC, page.id DESC
"""
_REVOKED_RECORDED: Final = """
    jsonb_build_object('setup_link',
        jsonb_build_object('id', l.id, 'parts', l.parts, 'action', 'revoked')
        || CASE WHEN l.roles = '{}' THEN '{}' ELSE jsonb_build_object('roles', l.roles) END) AS recorded
"""
_LINKS: Final = f"""
    SELECT   'setup_link' AS kind, l.id, l.organization_id, NULL::uuid AS customer_id, {_REVOKED_RECORDED}
    FROM     setup_links l
    WHERE    l.organization_id = %(organization_id)s AND l.made_by_key = %(key_id)s AND l.expires_at > %(now)s
    UNION    ALL
    SELECT   'setup_link', l.id, l.organization_id, c.id, {_REVOKED_RECORDED}
    FROM     {_OF_CUSTOMERS}
    JOIN     setup_links l ON l.organization_id = i.id AND l.made_by_key = %(key_id)s AND l.expires_at > %(now)s
    WHERE    c.vendor_id = %(organization_id)s
    ORDER BY id
"""
_ENDED_RECORDED: Final = """
    jsonb_build_object('scim_token_id', t.id, 'scim_token_name', t.name, 'scim_token_prefix', t.prefix) AS recorded
"""
_END: Final = f"""
    WITH ended_keys AS (
        DELETE    FROM api_keys k
        USING     services s
        WHERE     k.organization_id = %(organization_id)s
          AND     k.id IN (SELECT id
                           FROM   api_keys
                           WHERE  organization_id = %(organization_id)s AND made_by_key = %(key_id)s
                           LIMIT  %(limit)s)
          AND     s.organization_id = k.organization_id AND s.id = k.service_id
        RETURNING k.id, jsonb_build_object('api_key_id', k.id, 'service_id', s.id, 'service_slug', s.slug,
                                           'name', k.name, 'permissions', k.permissions) AS recorded),
      ended_tokens AS (
        DELETE    FROM scim_tokens t
        WHERE     t.organization_id = %(organization_id)s AND t.made_by_key = %(key_id)s
        RETURNING t.id, {_ENDED_RECORDED}),
      ended_tokens_of_customers AS (
        DELETE    FROM scim_tokens t
        USING     {_OF_CUSTOMERS}
        WHERE     c.vendor_id = %(organization_id)s AND t.organization_id = i.id AND t.made_by_key = %(key_id)s
        RETURNING t.id, t.organization_id, c.id AS customer_id, {_ENDED_RECORDED})
    SELECT 'api_key' AS kind, id, %(organization_id)s::uuid AS organization_id, NULL::uuid AS customer_id, recorded
    FROM   ended_keys
    UNION  ALL
    SELECT 'scim_token', id, %(organization_id)s, NULL, recorded
    FROM   ended_tokens
    UNION  ALL
    SELECT 'scim_token', id, organization_id, customer_id, recorded
    FROM   ended_tokens_of_customers
    ORDER  BY kind, id
"""


class PostgresMadeByKeys(Aggregate):
    """The port `MadeByKeys`."""

    def page(self, organization_id: UUID, key_id: UUID, *, limit: int, offset: int) -> MadeByKeyPage:
        rows = self._rows(_PAGE, self._named(organization_id, key_id) | {"limit": limit, "offset": offset})
        totals = [row.pop("total") for row in rows]
        return MadeByKeyPage(things=[_thing(**row) for row in rows if row["id"] is not None], total=totals[0])

    def links(self, organization_id: UUID, key_id: UUID) -> Sequence[EndedWithKey]:
        return self._all(_ended, _LINKS, self._named(organization_id, key_id))

    def end(self, organization_id: UUID, key_id: UUID, *, limit: int) -> Sequence[EndedWithKey]:
        return self._all(_ended, _END, {"organization_id": organization_id, "key_id": key_id, "limit": limit})

    def _named(self, organization_id: UUID, key_id: UUID) -> dict[str, Any]:
        return {"organization_id": organization_id, "key_id": key_id, "now": self._transaction.now}


def _thing(*, kind: str, **columns: Any) -> MadeByKey:
    return MadeByKey(kind=MadeByKeyKind(kind), **columns)


def _ended(*, kind: str, **columns: Any) -> EndedWithKey:
    return EndedWithKey(kind=MadeByKeyKind(kind), **columns)
