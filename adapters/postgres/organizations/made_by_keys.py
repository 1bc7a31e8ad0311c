"""What keys of organizations have made, in the tables of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.keys import EndedWithKey, MadeByKey, MadeByKeyKind, MadeByKeyPage

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
        return MadeByKeyPage(things=[_made(**row) for row in rows if row["id"] is not None], total=totals[0])

    def links(self, organization_id: UUID, key_id: UUID) -> Sequence[EndedWithKey]:
        return self._all(_ended, _LINKS, self._named(organization_id, key_id))

    def end(self, organization_id: UUID, key_id: UUID, *, limit: int) -> Sequence[EndedWithKey]:
        return self._all(_ended, _END, {"organization_id": organization_id, "key_id": key_id, "limit": limit})

    def _named(self, organization_id: UUID, key_id: UUID) -> dict[str, Any]:
        return {"organization_id": organization_id, "key_id": key_id, "now": self._transaction.now}


def _made(*, kind: str, **columns: Any) -> MadeByKey:
    return MadeByKey(kind=MadeByKeyKind(kind), **columns)


def _ended(*, kind: str, **columns: Any) -> EndedWithKey:
    return EndedWithKey(kind=MadeByKeyKind(kind), **columns)
