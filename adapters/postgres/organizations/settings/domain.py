"""Custom domains in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import dict_row, kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.organizations.domain_proofs import FAILING_MAX, DomainProof, ProofStatus
from core.organizations.settings.domain import DomainClaim
from core.sessions.callers import CustomHost

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresCustomDomains(Aggregate):
    """The port `CustomDomains`."""

    def of(self, organization_id: UUID) -> DomainClaim | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(
                """
                SELECT id, organization_id, domain, value, status, verified_at, proved_at, failing_since, checked_at,
                       next_check_at
                FROM   custom_domains
                WHERE  organization_id = %s
                """,
                (organization_id,),
            )
            .fetchone()
        )

    def lock(self, organization_id: UUID, claim_id: UUID) -> DomainClaim | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(
                """
                SELECT id, organization_id, domain, value, status, verified_at, proved_at, failing_since, checked_at,
                       next_check_at
                FROM   custom_domains
                WHERE  organization_id = %s AND id = %s
                FOR    NO KEY UPDATE
                """,
                (organization_id, claim_id),
            )
            .fetchone()
        )

    def add(self, claim: DomainClaim) -> None:
        proof = claim.proof
        self._connection.execute_later(
            """
            INSERT INTO custom_domains (id, organization_id, domain, value, status)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (claim.id, claim.organization_id, proof.domain, proof.value, proof.status.value),
        )

    def save(self, organization_id: UUID, claim_id: UUID, proof: DomainProof) -> bool:
        # Two that verify the same domain at once: the second waits here, and then sees the first.
        self._connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('custom domain ' || %s, 0))", (proof.domain,)
        )
        # A claim that has failed for too long, and was not checked since, is not in the way.
        self._connection.execute_later(
            """
            UPDATE custom_domains
            SET    status = 'pending', verified_at = NULL, proved_at = NULL, failing_since = NULL, next_check_at = NULL
            WHERE  domain = %s AND failing_since <= %s AND id <> %s
            """,
            (proof.domain, self._transaction.now - FAILING_MAX, claim_id),
        )
        return (
            self._connection.execute(
                """
                UPDATE custom_domains
                SET    status = %(status)s, verified_at = %(verified_at)s, proved_at = %(proved_at)s,
                       failing_since = %(failing_since)s, checked_at = %(checked_at)s,
                       next_check_at = %(next_check_at)s
                WHERE  organization_id = %(organization_id)s AND id = %(id)s
                AND    (%(verified_at)s::timestamptz IS NULL
                        OR NOT EXISTS (SELECT
                                       FROM   custom_domains other
                                       WHERE  other.domain = %(domain)s AND other.verified_at IS NOT NULL
                                       AND    other.id <> %(id)s))
                """,
                {
                    "organization_id": organization_id,
                    "id": claim_id,
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

    def remove(self, organization_id: UUID, claim_id: UUID) -> None:
        self._connection.execute_later(
            """
            WITH made_there AS MATERIALIZED (
                SELECT b.session_id
                FROM   browser_sessions b
                JOIN   custom_domains d ON d.id = b.domain_id AND d.organization_id = %(organization_id)s
                WHERE  b.domain_id = %(claim_id)s
            )
            UPDATE sessions
            SET    revoked_at = %(now)s
            WHERE  revoked_at IS NULL
            AND    (id = ANY (ARRAY(SELECT session_id FROM made_there))
                    -- What was signed in to from there.
                    OR parent_id = ANY (ARRAY(SELECT session_id FROM made_there)))
            """,
            {"now": self._transaction.now, "organization_id": organization_id, "claim_id": claim_id},
        )
        # Passkeys, and what is left of the sessions, refer to it.
        self._connection.execute(
            "DELETE FROM custom_domains WHERE organization_id = %s AND id = %s", (organization_id, claim_id)
        )

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[DomainClaim]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_claim))
            .execute(
                """
                WITH due AS MATERIALIZED (
                    SELECT   id
                    FROM     custom_domains
                    WHERE    verified_at IS NOT NULL AND next_check_at <= %(now)s
                    ORDER BY next_check_at
                    LIMIT    %(limit)s
                    FOR NO KEY UPDATE SKIP LOCKED
                )
                UPDATE    custom_domains
                SET       next_check_at = %(until)s
                FROM      due
                WHERE     custom_domains.id = due.id
                RETURNING custom_domains.id, organization_id, domain, value, status, verified_at, proved_at,
                          failing_since, checked_at, next_check_at
                """,
                {"now": self._transaction.now, "limit": limit, "until": until},
            )
            .fetchall()
        )

    def host(self, name: str) -> CustomHost | None:
        row = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                SELECT d.id AS domain_id, d.domain AS name, o.id AS organization_id, o.slug AS organization_slug
                FROM   custom_domains d
                JOIN   organizations o ON o.id = d.organization_id AND o.status = 'active'
                WHERE  d.domain = %s AND d.verified_at IS NOT NULL
                AND    (d.failing_since IS NULL OR d.failing_since > %s)
                """,
                (name, self._transaction.now - FAILING_MAX),
            )
            .fetchone()
        )
        return CustomHost(**row) if row is not None else None

    def verified_domains(self, organization_id: UUID) -> Sequence[str]:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT domain
                FROM   custom_domains
                WHERE  organization_id = %s AND verified_at IS NOT NULL
                AND    (failing_since IS NULL OR failing_since > %s)
                """,
                (organization_id, self._transaction.now - FAILING_MAX),
            )
            .fetchall()
        )


def _claim(*, id: UUID, organization_id: UUID, status: str, **proof: Any) -> DomainClaim:  # noqa: A002 - a column
    return DomainClaim(id=id, organization_id=organization_id, proof=DomainProof(status=ProofStatus(status), **proof))
