"""What the claims to domains have in common: custom domains and domain routes, each kind in a table of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import Row
from adapters.postgres.transaction import Aggregate
from core.organizations.domain_proofs import FAILING_MAX, DomainProof, ProofStatus

PROOF: Final = "domain, value, status, verified_at, proved_at, failing_since, checked_at, next_check_at"


def proof_row(*, status: str, **columns: Any) -> DomainProof:
    """Return the proof of a row with the columns of `PROOF`."""
    return DomainProof(status=ProofStatus(status), **columns)


class DomainClaims(Aggregate):
    """The claims in one table: saving a proof, and finding claims whose check is due."""

    _table: ClassVar[LiteralString]
    # Of the lock for those who verify the same domain.
    _lock_name: ClassVar[LiteralString]
    _columns: ClassVar[LiteralString]
    # Which claims compete with no other, and which `other` claims stand against the rest.
    _is_shared: ClassVar[LiteralString] = "false"
    _is_exclusive: ClassVar[LiteralString] = "true"

    def _save_proof(self, organization_id: UUID, claim_id: UUID, proof: DomainProof) -> bool:
        # Two that verify the same domain at once: the second waits here, and then sees the first.
        self._connection.execute(
            f"SELECT pg_advisory_xact_lock(hashtextextended('{self._lock_name} ' || %s, 0))", (proof.domain,)
        )
        # A claim that has failed for too long, and was not checked since, is not in the way.
        self._connection.execute_later(
            f"""
            UPDATE {self._table}
            SET    status = 'pending', verified_at = NULL, proved_at = NULL, failing_since = NULL, next_check_at = NULL
            WHERE  domain = %s AND failing_since <= %s AND id <> %s
            """,
            (proof.domain, self._transaction.now - FAILING_MAX, claim_id),
        )
        return self._changes_one(
            f"""
            UPDATE {self._table}
            SET    status = %(status)s, verified_at = %(verified_at)s, proved_at = %(proved_at)s,
                   failing_since = %(failing_since)s, checked_at = %(checked_at)s,
                   next_check_at = %(next_check_at)s
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            AND    (%(verified_at)s::timestamptz IS NULL OR {self._is_shared}
                    OR NOT EXISTS (SELECT
                                   FROM   {self._table} other
                                   WHERE  other.domain = %(domain)s AND other.verified_at IS NOT NULL
                                   AND    {self._is_exclusive} AND other.id <> %(id)s))
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
        )

    def _claim_checks(self, make: Callable[..., Row], limit: int, *, until: datetime) -> Sequence[Row]:
        return self._all(
            make,
            f"""
            WITH due AS MATERIALIZED (
                SELECT   id AS due_id
                FROM     {self._table}
                WHERE    verified_at IS NOT NULL AND next_check_at <= %(now)s
                ORDER BY next_check_at
                LIMIT    %(limit)s
                FOR NO KEY UPDATE SKIP LOCKED
            )
            UPDATE    {self._table}
            SET       next_check_at = %(until)s
            FROM      due
            WHERE     id = due_id
            RETURNING {self._columns}
            """,
            {"now": self._transaction.now, "limit": limit, "until": until},
        )
