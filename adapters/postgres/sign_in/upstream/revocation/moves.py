"""How people come along to another provider, in numbers, from the tables of accounts, connections and identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.accounts.own_accounts import BELONGS_ELSEWHERE
from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import ADMIN, MEMBER, OWNER
from core.sign_in.upstream.revocation.moves import Arriving

# What counts of a user `u`, with their membership `m` if there is one: `core/sign_in/upstream/connections/at_once.py`
# says it of a person. `is_open` means that a sign-in by a connection lets them in, if need be after a mailed code.
_PERSON: Final = f"""
    u.id, u.email_verified_at IS NULL AS is_new, m.role,
    u.deactivated_at IS NULL AND u.disowned_at IS NULL AND m.suspended_at IS NULL AS is_open,
    u.created_by_organization_id IS NOT DISTINCT FROM %(organization_id)s AND u.locked_at IS NULL
        AND u.closed_at IS NULL AND NOT (u.is_platform_owner OR u.is_platform_support)
        AND coalesce(m.role, '') NOT IN (%(owner)s, %(admin)s) AND NOT {BELONGS_ELSEWHERE} AS is_own,
    m.role IS NOT NULL AND u.mfa_enabled_at IS NULL AS lacks_factor
"""
_COUNTS: Final = """
    count(*) FILTER (WHERE p.is_open) AS people,
    count(*) FILTER (WHERE p.is_open AND NOT p.is_linked AND p.opens AND p.is_new) AS fresh,
    count(*) FILTER (WHERE p.is_open AND NOT p.is_linked AND p.opens AND p.is_own AND NOT p.is_new) AS own,
    count(*) FILTER (WHERE p.is_open AND p.is_linked) AS linked,
    count(*) FILTER (WHERE NOT p.is_open) AS kept_out
"""
# Whether the word of a connection `c` alone opens what a person has; else they type a code.
_OPENS: Final = """
    (one.role IS NULL OR one.role IN (%(member)s, coalesce(c.joins_as, %(member)s)))
        AND NOT (o.mfa_required AND one.lacks_factor AND NOT c.trust_mfa)
"""
OF_DOMAIN: Final = f"""
    WITH people AS MATERIALIZED (
        SELECT    {_PERSON}
        FROM      (SELECT user_id FROM memberships WHERE organization_id = %(organization_id)s
                   UNION
                   SELECT user_id FROM service_users WHERE organization_id = %(organization_id)s) of_organization
        JOIN      users u       ON u.id = of_organization.user_id AND split_part(u.email, '@', 2) = %(domain)s
        LEFT JOIN memberships m ON m.organization_id = %(organization_id)s AND m.user_id = u.id)
    SELECT c.id AS connection_id, c.name, c.is_vouched_for, counted.*
    FROM   upstream_connections c
    JOIN   organizations o ON o.id = c.organization_id
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT    one.*, i.id IS NOT NULL AS is_linked, {_OPENS} AS opens
                FROM      people one
                LEFT JOIN identities i ON i.organization_id = c.organization_id AND i.connection_id = c.id
                                      AND i.user_id = one.id) p) counted
    WHERE  c.organization_id = %(organization_id)s AND (%(connection_id)s::uuid IS NULL OR c.id = %(connection_id)s)
    ORDER  BY c.created_at, c.id
    LIMIT  %(limit)s
"""
OF_LINKED: Final = f"""
    SELECT c.id AS connection_id, c.name, c.is_vouched_for, counted.*
    FROM   upstream_connections c
    JOIN   organizations o ON o.id = c.organization_id
    CROSS JOIN LATERAL (
        SELECT {_COUNTS}
        FROM   (SELECT one.id, one.is_new, one.is_open AND route.id IS NOT NULL AS is_open, false AS is_linked,
                       one.is_own AND route.connection_id = c.id AND route.vouched_for = c.id AS is_own,
                       {_OPENS} AS opens
                FROM   (SELECT    {_PERSON}, split_part(u.email, '@', 2) AS domain
                        FROM      identities i
                        JOIN      users u       ON u.id = i.user_id
                        LEFT JOIN memberships m ON m.organization_id = %(organization_id)s AND m.user_id = u.id
                        WHERE     i.organization_id = %(organization_id)s AND i.connection_id = c.id) one
                LEFT JOIN domain_routes route ON route.organization_id = %(organization_id)s
                                             AND route.domain = one.domain AND {IN_FORCE}) p) counted
    WHERE  c.organization_id = %(organization_id)s AND c.id = %(connection_id)s
"""
_ROLES: Final = {"owner": OWNER, "admin": ADMIN, "member": MEMBER}


class PostgresConnectionMoves(Aggregate):
    """The port `ConnectionMoves`."""

    def of_domain(
        self, organization_id: UUID, domain: str, *, connection_id: UUID | None, limit: int
    ) -> Sequence[Arriving]:
        return self._all(
            Arriving,
            OF_DOMAIN,
            {
                "organization_id": organization_id,
                "domain": domain,
                "connection_id": connection_id,
                "limit": limit,
                **_ROLES,
            },
        )

    def of_linked(self, organization_id: UUID, connection_id: UUID) -> Arriving | None:
        return self._one(
            Arriving,
            OF_LINKED,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                **_ROLES,
                **in_force_at(self._transaction.now),
            },
        )
