"""Domain routes in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.domains_in_force import IN_FORCE, PROVED, in_force_at
from adapters.postgres.driver.columns import values
from adapters.postgres.organizations.domain_proofs import PROOF, DomainClaims, proof_row
from adapters.postgres.sessions.customer_contexts import IS_ACTIVE
from core.accounts.single_sign_on import RequiredConnection
from core.organizations.organizations import OWNER, MadeThrough
from core.sign_in.upstream.domains.domain_routes import OpenRoute, RouteClaim

if TYPE_CHECKING:
    from core.deferred import Deferred

_COLUMNS: Final = f"id, organization_id, connection_id, enforced, vouched_for, {PROOF}"
_CLAIM: Final = f"SELECT {_COLUMNS} FROM domain_routes"
# The index of verified claims finds at most one row.
_OPEN: Final = f"""
    SELECT c.id AS connection_id, c.name AS connection_name, o.slug AS organization_slug, r.enforced
    FROM   domain_routes r
    JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id AND c.enabled
    JOIN   organizations o        ON o.id = r.organization_id AND o.status = 'active'
    WHERE  r.domain = %(domain)s AND {IN_FORCE}
"""
# The route that a vendor has made for a customer of its service, until an organization has proved the domain for long
# enough. The first of several that have proved it.
_MADE: Final = f"""
    SELECT   c.id AS connection_id, c.name AS connection_name, v.slug AS organization_slug, false AS enforced
    FROM     organizations v
    JOIN     services s             ON s.organization_id = v.id AND s.slug = %(service_slug)s AND s.customers <> 'none'
    JOIN     service_customers k    ON k.vendor_id = v.id AND k.service_id = s.id AND NOT k.hidden
    JOIN     organizations i        ON i.internal_of = k.id AND i.status = 'active'
    JOIN     domain_routes r        ON r.organization_id = i.id AND r.made_for = k.id AND r.domain = %(domain)s
                                   AND r.{PROVED}
    JOIN     upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id AND c.enabled
    WHERE    v.slug = %(vendor_slug)s AND v.status = 'active'
      AND    NOT EXISTS (SELECT FROM domain_routes
                         WHERE  domain = %(domain)s AND verified_at <= %(moved_before)s AND {IN_FORCE})
    ORDER BY r.verified_at, r.id
    LIMIT    1
"""
# Whether the route of a user's mail domain, with its connection and organization, binds the user.
IS_ENFORCED: Final = """
    (r.enforced AND c.enabled AND o.status = 'active' AND NOT u.is_platform_owner AND u.disowned_at IS NULL)
"""
IS_OF_OWNER: Final = """
    EXISTS (SELECT FROM memberships
            WHERE  organization_id = r.organization_id AND user_id = %(user_id)s AND role = %(owner)s
              AND  suspended_at IS NULL)
"""
OF_USER: Final = f"""
    FROM   users u
    JOIN   domain_routes r        ON r.domain = split_part(u.email, '@', 2)
    JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id
    JOIN   organizations o        ON o.id = r.organization_id
    WHERE  u.id = %(user_id)s AND {IN_FORCE}
"""
# A browser is linking that has brought an identity of the connection, to be linked to the user.
_ENFORCED: Final = f"""
    SELECT c.id AS connection_id, r.organization_id, {IS_ENFORCED} AS is_enforced, {IS_OF_OWNER} AS is_of_owner,
           EXISTS (SELECT FROM upstream_sign_ins p
                   WHERE  p.user_id = u.id AND p.browser_hash = %(browser_hash)s AND p.connection_id = c.id
                     AND  p.proven_sealed IS NOT NULL AND p.used_at IS NULL AND p.ended_at IS NULL
                     AND  p.expires_at > %(now)s) AS is_linking
    {OF_USER}
    FOR SHARE OF r
"""


class PostgresDomainRoutes(DomainClaims):
    """The port `DomainRoutes`."""

    _table = "domain_routes"
    _lock_name = "domain route"
    _columns = _COLUMNS
    # A vendor's claim for a customer does not compete with any other claim.
    _is_shared = "made_for IS NOT NULL"
    _is_exclusive = "other.made_for IS NULL"

    def of_organization(self, organization_id: UUID) -> Sequence[RouteClaim]:
        return self._all(_claim, f"{_CLAIM} WHERE organization_id = %s ORDER BY domain", (organization_id,))

    def lock(self, organization_id: UUID, route_id: UUID) -> RouteClaim | None:
        return self._one(
            _claim, f"{_CLAIM} WHERE organization_id = %s AND id = %s FOR NO KEY UPDATE", (organization_id, route_id)
        )

    def add(self, claim: RouteClaim, made_through: MadeThrough | None = None) -> bool:
        return self._changes_one(
            """
            INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, vouched_for,
                                       made_through, created_at)
            VALUES (%(id)s, %(organization_id)s, %(domain)s, %(connection_id)s, %(enforced)s, %(value)s, %(status)s,
                    %(vouched_for)s, %(made_through)s, %(now)s)
            ON CONFLICT (organization_id, domain) DO NOTHING
            """,
            {**values(claim), **values(claim.proof), "made_through": made_through, "now": self._transaction.now},
        )

    def save(self, claim: RouteClaim) -> None:
        self._connection.execute_later(
            """
            UPDATE domain_routes
            SET    connection_id = %s, enforced = %s, vouched_for = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (claim.connection_id, claim.enforced, claim.vouched_for, claim.organization_id, claim.id),
        )

    def save_proof(self, claim: RouteClaim) -> bool:
        return self._save_proof(claim.organization_id, claim.id, claim.proof)

    def remove(self, organization_id: UUID, route_id: UUID) -> bool:
        return self._changes_one(
            "DELETE FROM domain_routes WHERE organization_id = %s AND id = %s", (organization_id, route_id)
        )

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[RouteClaim]:
        return self._claim_checks(_claim, limit, until=until)

    def is_own_domain(self, organization_id: UUID, domain: str) -> bool:
        return self._value(
            f"""
            SELECT EXISTS (SELECT FROM domain_routes
                           WHERE  organization_id = %(organization_id)s AND domain = %(domain)s AND {IN_FORCE})
            """,
            {"organization_id": organization_id, "domain": domain, **in_force_at(self._transaction.now)},
        )

    def proved_for_customers(self, domain: str, *, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   organization_id
            FROM     domain_routes
            WHERE    domain = %s AND made_for IS NOT NULL AND verified_at IS NOT NULL
            ORDER BY verified_at, organization_id
            LIMIT    %s
            """,
            (domain, limit),
        )

    def is_enforced(self, organization_id: UUID, connection_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM domain_routes
                           WHERE  organization_id = %s AND connection_id = %s AND enforced)
            """,
            (organization_id, connection_id),
        )

    def enforced_to(self, organization_id: UUID, connection_id: UUID) -> Sequence[RouteClaim]:
        return self._all(
            _claim,
            f"""
            {_CLAIM}
            WHERE    organization_id = %(organization_id)s AND connection_id = %(connection_id)s AND enforced
              AND    {IN_FORCE}
            ORDER BY domain
            FOR NO KEY UPDATE
            """,
            {"organization_id": organization_id, "connection_id": connection_id, **in_force_at(self._transaction.now)},
        )

    def open_route(self, domain: str) -> OpenRoute | None:
        return self._one(OpenRoute, _OPEN, {"domain": domain, **in_force_at(self._transaction.now)})

    def made_route(
        self, domain: str, vendor_slug: str, service_slug: str, *, moved_before: datetime
    ) -> OpenRoute | None:
        return self._one(
            OpenRoute,
            _MADE,
            {
                "domain": domain,
                "vendor_slug": vendor_slug,
                "service_slug": service_slug,
                "moved_before": moved_before,
                **in_force_at(self._transaction.now),
            },
        )

    def is_of_customer(self, organization_slug: str, vendor_slug: str, service_slug: str) -> bool | None:
        return self._value_or_none(
            f"""
            SELECT EXISTS (SELECT FROM service_customers c
                           JOIN   organizations o ON o.id = c.organization_id
                           WHERE  c.service_id = s.id AND o.slug = %s AND {IS_ACTIVE} AND NOT c.hidden)
            FROM   organizations v
            JOIN   services s ON s.organization_id = v.id
            WHERE  v.slug = %s AND v.status <> 'deleting' AND s.slug = %s AND s.customers <> 'none'
            """,
            (organization_slug, vendor_slug, service_slug),
        )

    def defer_enforced_on(
        self, user_id: UUID, browser_hash: bytes | None = None
    ) -> Deferred[RequiredConnection | None]:
        # A route that is not enforced is locked too: what enforces it waits for this transaction.
        asked = {"user_id": user_id, "browser_hash": browser_hash, "owner": OWNER, "now": self._transaction.now}
        found = self._defer_one(_required, _ENFORCED, asked | in_force_at(self._transaction.now))
        return lambda: _only_enforced(found())


def _required(*, is_enforced: bool, **columns: Any) -> tuple[RequiredConnection, bool]:
    return RequiredConnection(**columns), is_enforced


def _only_enforced(found: tuple[RequiredConnection, bool] | None) -> RequiredConnection | None:
    return found[0] if found is not None and found[1] else None


def _claim(**columns: Any) -> RouteClaim:
    own = {name: columns.pop(name) for name in ("id", "organization_id", "connection_id", "enforced", "vouched_for")}
    return RouteClaim(proof=proof_row(**columns), **own)
