"""Domain routes in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.organizations.domain_proofs import FAILING_MAX, DomainProof, ProofStatus
from core.organizations.memberships import OWNER
from core.sign_in.upstream.domain_routes import OpenRoute, RouteClaim

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

_CLAIM: Final = """
    SELECT id, organization_id, connection_id, enforced, domain, value, status, verified_at, proved_at, failing_since,
           checked_at, next_check_at
    FROM   domain_routes
"""
# The index of verified claims finds at most one row.
_IN_FORCE: Final = """
    FROM   domain_routes r
    JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id AND c.enabled
    JOIN   organizations o        ON o.id = r.organization_id AND o.status = 'active'
    WHERE  r.domain = %(domain)s AND r.verified_at IS NOT NULL
      AND  (r.failing_since IS NULL OR r.failing_since > %(failing_after)s)
"""
_OPEN: Final = "SELECT c.id AS connection_id, c.name AS connection_name, o.slug AS organization_slug, r.enforced"
_ENFORCED: Final = """
    SELECT CASE WHEN r.enforced AND c.enabled AND o.status = 'active'
                 AND NOT EXISTS (SELECT FROM memberships
                                 WHERE  organization_id = r.organization_id AND user_id = %(user_id)s
                                 AND    role = %(owner)s AND suspended_at IS NULL)
                 AND NOT EXISTS (SELECT FROM users WHERE id = %(user_id)s AND disowned_at IS NOT NULL)
                THEN c.id END
    FROM   domain_routes r
    JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id
    JOIN   organizations o        ON o.id = r.organization_id
    WHERE  r.domain = %(domain)s AND r.verified_at IS NOT NULL
      AND  (r.failing_since IS NULL OR r.failing_since > %(failing_after)s)
    FOR    SHARE OF r
"""


class PostgresDomainRoutes(Aggregate):
    """The port `DomainRoutes`."""

    def of_organization(self, organization_id: UUID) -> Sequence[RouteClaim]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(f"{_CLAIM} WHERE organization_id = %s ORDER BY domain", (organization_id,))
            .fetchall()
        )

    def lock(self, organization_id: UUID, route_id: UUID) -> RouteClaim | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(f"{_CLAIM} WHERE organization_id = %s AND id = %s FOR NO KEY UPDATE", (organization_id, route_id))
            .fetchone()
        )

    def add(self, claim: RouteClaim) -> bool:
        return (
            self._connection.execute(
                """
                INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status)
                VALUES (%s, %s, %s, %s, %s, %s, %s)
                ON CONFLICT (organization_id, domain) DO NOTHING
                """,
                (
                    claim.id,
                    claim.organization_id,
                    claim.proof.domain,
                    claim.connection_id,
                    claim.enforced,
                    claim.proof.value,
                    claim.proof.status.value,
                ),
            ).rowcount
            == 1
        )

    def save(self, claim: RouteClaim) -> None:
        self._connection.execute_later(
            "UPDATE domain_routes SET connection_id = %s, enforced = %s WHERE organization_id = %s AND id = %s",
            (claim.connection_id, claim.enforced, claim.organization_id, claim.id),
        )

    def save_proof(self, claim: RouteClaim) -> bool:
        proof = claim.proof
        # Two that verify the same domain at once: the second waits here, and then sees the first.
        self._connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('domain route ' || %s, 0))", (proof.domain,)
        )
        # A claim that has failed for too long, and was not checked since, is not in the way.
        self._connection.execute_later(
            """
            UPDATE domain_routes
            SET    status = 'pending', verified_at = NULL, proved_at = NULL, failing_since = NULL, next_check_at = NULL
            WHERE  domain = %s AND failing_since <= %s AND id <> %s
            """,
            (proof.domain, self._transaction.now - FAILING_MAX, claim.id),
        )
        return (
            self._connection.execute(
                """
                UPDATE domain_routes
                SET    status = %(status)s, verified_at = %(verified_at)s, proved_at = %(proved_at)s,
                       failing_since = %(failing_since)s, checked_at = %(checked_at)s,
                       next_check_at = %(next_check_at)s
                WHERE  organization_id = %(organization_id)s AND id = %(id)s
                AND    (%(verified_at)s::timestamptz IS NULL
                        OR NOT EXISTS (SELECT
                                       FROM   domain_routes other
                                       WHERE  other.domain = %(domain)s AND other.verified_at IS NOT NULL
                                       AND    other.id <> %(id)s))
                """,
                {
                    "organization_id": claim.organization_id,
                    "id": claim.id,
                    "domain": proof.domain,
                    "status": proof.status.value,
                    "verified_at": proof.verified_at,
                    "proved_at": proof.proved_at,
                    "failing_since": proof.failing_since,
                    "checked_at": proof.checked_at,
                    "next_check_at": proof.next_check_at,
                },
            ).rowcount
            == 1
        )

    def remove(self, organization_id: UUID, route_id: UUID) -> bool:
        return (
            self._connection.execute(
                "DELETE FROM domain_routes WHERE organization_id = %s AND id = %s", (organization_id, route_id)
            ).rowcount
            == 1
        )

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[RouteClaim]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(
                """
                WITH due AS MATERIALIZED (
                    SELECT   id
                    FROM     domain_routes
                    WHERE    verified_at IS NOT NULL AND next_check_at <= %(now)s
                    ORDER BY next_check_at
                    LIMIT    %(limit)s
                    FOR NO KEY UPDATE SKIP LOCKED
                )
                UPDATE    domain_routes
                SET       next_check_at = %(until)s
                FROM      due
                WHERE     domain_routes.id = due.id
                RETURNING domain_routes.id, organization_id, connection_id, enforced, domain, value, status,
                          verified_at, proved_at, failing_since, checked_at, next_check_at
                """,
                {"now": self._transaction.now, "limit": limit, "until": until},
            )
            .fetchall()
        )

    def is_own_domain(self, organization_id: UUID, domain: str) -> bool:
        [is_own] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT EXISTS (SELECT FROM domain_routes
                               WHERE  organization_id = %s AND domain = %s AND verified_at IS NOT NULL
                                 AND  (failing_since IS NULL OR failing_since > %s))
                """,
                (organization_id, domain, self._failing_after),
            )
            .fetchall()
        )
        return is_own

    def is_enforced(self, organization_id: UUID, connection_id: UUID) -> bool:
        [is_enforced] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT EXISTS (SELECT FROM domain_routes
                               WHERE  organization_id = %s AND connection_id = %s AND enforced)
                """,
                (organization_id, connection_id),
            )
            .fetchall()
        )
        return is_enforced

    def enforced_to(self, organization_id: UUID, connection_id: UUID) -> Sequence[RouteClaim]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(
                f"""
                {_CLAIM}
                WHERE    organization_id = %s AND connection_id = %s AND enforced AND verified_at IS NOT NULL
                  AND    (failing_since IS NULL OR failing_since > %s)
                ORDER BY domain
                FOR NO KEY UPDATE
                """,
                (organization_id, connection_id, self._failing_after),
            )
            .fetchall()
        )

    def open_route(self, domain: str) -> OpenRoute | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(OpenRoute))
            .execute(f"{_OPEN} {_IN_FORCE}", {"domain": domain, "failing_after": self._failing_after})
            .fetchone()
        )

    def enforced_on(self, domain: str, user_id: UUID) -> UUID | None:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                _ENFORCED,
                {"domain": domain, "failing_after": self._failing_after, "user_id": user_id, "owner": OWNER},
            )
            .fetchone()
        )

    @property
    def _failing_after(self) -> datetime:
        return self._transaction.now - FAILING_MAX


def _claim(*, status: str, **columns: Any) -> RouteClaim:
    own = {name: columns.pop(name) for name in ("id", "organization_id", "connection_id", "enforced")}
    return RouteClaim(proof=DomainProof(status=ProofStatus(status), **columns), **own)
