"""The verified domains of organizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import scalar_row
from adapters.postgres.transaction import Aggregate
from core.organizations.domain_proofs import FAILING_MAX

if TYPE_CHECKING:
    from uuid import UUID


class PostgresVerifiedDomains(Aggregate):
    """The port `VerifiedDomains`."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        found = self._connection.cursor(row_factory=scalar_row).execute(
            """
            SELECT EXISTS (SELECT
                           FROM   (SELECT organization_id, domain, verified_at, failing_since
                                   FROM   custom_domains
                                   UNION  ALL
                                   SELECT organization_id, domain, verified_at, failing_since
                                   FROM   domain_routes) AS claims
                           WHERE  organization_id = %(organization_id)s AND verified_at IS NOT NULL
                           AND    (failing_since IS NULL OR failing_since > %(failing_from)s)
                           AND    (domain = %(host)s OR right(%(host)s, length(domain) + 1) = '.' || domain))
                   -- Gatehouse itself is under a custom domain.
                   AND NOT EXISTS (SELECT FROM custom_domains WHERE domain = %(host)s AND verified_at IS NOT NULL)
            """,
            {
                "organization_id": organization_id,
                "host": host,
                "failing_from": self._transaction.now - FAILING_MAX,
            },
        )
        return bool(found.fetchone())
