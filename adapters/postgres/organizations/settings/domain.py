"""Custom domains in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.domains_in_force import PROVED, in_force_at
from adapters.postgres.organizations.domain_proofs import PROOF, DomainClaims, proof_row
from core.organizations.domain_proofs import DomainProof
from core.organizations.settings.domain import DomainClaim
from core.sessions.origins import CustomHost

_COLUMNS: Final = f"id, organization_id, {PROOF}"
_CLAIM: Final = f"SELECT {_COLUMNS} FROM custom_domains"


class PostgresCustomDomains(DomainClaims):
    """The port `CustomDomains`."""

    _table = "custom_domains"
    _lock_name = "custom domain"
    _columns = _COLUMNS

    def of(self, organization_id: UUID) -> DomainClaim | None:
        return self._one(_claim, f"{_CLAIM} WHERE organization_id = %s", (organization_id,))

    def lock(self, organization_id: UUID, claim_id: UUID) -> DomainClaim | None:
        return self._one(
            _claim, f"{_CLAIM} WHERE organization_id = %s AND id = %s FOR NO KEY UPDATE", (organization_id, claim_id)
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
        return self._save_proof(organization_id, claim_id, proof)

    def count_uses(self, organization_id: UUID, claim_id: UUID, *, at: datetime) -> tuple[int, int]:
        row = self._row(
            """
            WITH made_there AS MATERIALIZED (
                SELECT b.session_id
                FROM   browser_sessions b
                JOIN   custom_domains d ON d.id = b.domain_id AND d.organization_id = %(organization_id)s
                WHERE  b.domain_id = %(claim_id)s
            )
            SELECT (SELECT count(*) FROM sessions
                    WHERE  revoked_at IS NULL AND expires_at > %(at)s
                    AND    (id = ANY (ARRAY(SELECT session_id FROM made_there))
                            OR parent_id = ANY (ARRAY(SELECT session_id FROM made_there)))) AS sessions,
                   (SELECT count(*) FROM passkeys p
                    JOIN   custom_domains d ON d.id = p.domain_id AND d.organization_id = %(organization_id)s
                    WHERE  p.domain_id = %(claim_id)s) AS passkeys
            """,
            {"at": at, "organization_id": organization_id, "claim_id": claim_id},
        )
        assert row is not None, "a query of counts has one row"
        return row["sessions"], row["passkeys"]

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
        return self._claim_checks(_claim, limit, until=until)

    def host(self, name: str) -> CustomHost | None:
        row = self._row(
            f"""
            SELECT d.id AS domain_id, d.domain AS name, o.id AS organization_id, o.slug AS organization_slug
            FROM   custom_domains d
            JOIN   organizations o ON o.id = d.organization_id AND o.status = 'active'
            WHERE  d.domain = %(name)s AND {PROVED}
            """,
            {"name": name, **in_force_at(self._transaction.now)},
        )
        return CustomHost(**row) if row is not None else None

    def verified_domains(self, organization_id: UUID) -> Sequence[str]:
        return self._values(
            f"SELECT domain FROM custom_domains WHERE organization_id = %(organization_id)s AND {PROVED}",
            {"organization_id": organization_id, **in_force_at(self._transaction.now)},
        )


def _claim(*, id: UUID, organization_id: UUID, **proof: Any) -> DomainClaim:  # noqa: A002 - a column
    return DomainClaim(id=id, organization_id=organization_id, proof=proof_row(**proof))
