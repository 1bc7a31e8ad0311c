"""What vendors have made for an organization, in the tables of connections, mail domains, tokens, rules and links."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.customers.made_for_us import MadeThingsPage, ThingForUs, ThingKind
from core.organizations.organizations import MadeThrough

# Each thing is found by its internal organization; a customer record has at most one.
_THINGS: Final = """
    FROM   service_customers c
    JOIN   organizations i ON i.internal_of = c.id
    JOIN   services s      ON s.organization_id = c.vendor_id AND s.id = c.service_id
    JOIN   organizations v ON v.id = c.vendor_id
    CROSS  JOIN LATERAL (
        SELECT u.id, 1 AS place, 'connection' AS kind, u.name, u.created_at AS made_at, u.made_through AS made_by
        FROM   upstream_connections u
        WHERE  u.organization_id = i.id
        UNION  ALL
        SELECT r.id, 2, 'mail_domain', r.domain, coalesce(r.created_at, r.proved_at, i.created_at), r.made_through
        FROM   domain_routes r
        WHERE  r.organization_id = i.id
        UNION  ALL
        SELECT t.id, 3, 'scim_token', t.name, t.created_at, t.made_through
        FROM   scim_tokens t
        WHERE  t.organization_id = i.id
        UNION  ALL
        SELECT g.id, 4, 'group_rule', coalesce(d.display_name, g.asserted_group), g.created_at, g.made_through
        FROM   customer_group_rules g
        LEFT   JOIN directory_groups d ON d.organization_id = g.organization_id AND d.id = g.group_id
        WHERE  g.organization_id = i.id
        UNION  ALL
        SELECT l.id, 5, 'setup_link', array_to_string(l.parts, ', '), l.created_at,
               CASE WHEN coalesce(l.made_by_api_key, l.made_by_key) IS NULL THEN %(member)s ELSE %(program)s END
        FROM   setup_links l
        WHERE  l.organization_id = i.id AND l.expires_at > %(now)s
    ) AS made
    WHERE  c.organization_id = %(organization_id)s
"""
_MADE: Final = """
    SELECT made.id, made.kind, made.name, made.made_at, made.made_by, i.id AS internal_id, c.id AS customer_id,
           s.client_id, c.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name, s.slug AS service_slug,
           s.name AS service_name
"""
COUNTED: Final = f"SELECT count(*) {_THINGS}"
PAGE: Final = f"""
    {_MADE}
    {_THINGS}
    ORDER BY lower(v.name), lower(s.name), c.id, made.place, lower(made.name), made.id
    LIMIT    %(limit)s OFFSET %(offset)s
"""
FOUND: Final = f"{_MADE} {_THINGS} AND made.id = %(thing_id)s"


class PostgresMadeForUs(Aggregate):
    """The port `MadeForUs`."""

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> MadeThingsPage:
        asked = self._asked(organization_id)
        return MadeThingsPage(
            things=self._all(_thing, PAGE, asked | {"limit": limit, "offset": offset}),
            total=self._value(COUNTED, asked),
        )

    def find(self, organization_id: UUID, thing_id: UUID) -> ThingForUs | None:
        return self._one(_thing, FOUND, self._asked(organization_id) | {"thing_id": thing_id})

    def own_group(self, organization_id: UUID, name: str) -> UUID | None:
        return self._value_or_none(
            "SELECT id FROM directory_groups WHERE organization_id = %s AND lower(display_name) = lower(%s)",
            (organization_id, name),
        )

    def _asked(self, organization_id: UUID) -> dict[str, Any]:
        return {
            "organization_id": organization_id,
            "now": self._transaction.now,
            "member": MadeThrough.MEMBER.value,
            "program": MadeThrough.PROGRAM.value,
        }


def _thing(*, kind: str, **columns: Any) -> ThingForUs:
    return ThingForUs(kind=ThingKind(kind), **columns)
