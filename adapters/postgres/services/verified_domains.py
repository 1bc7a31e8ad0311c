"""The verified domains of organizations."""

from __future__ import annotations

from uuid import UUID

from adapters.postgres.domains_in_force import PROVED, in_force_at
from adapters.postgres.transaction import Aggregate


class PostgresVerifiedDomains(Aggregate):
    """The port `VerifiedDomains`."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        return self._value(
            f"""
            SELECT EXISTS (SELECT
                           FROM   (SELECT organization_id, domain, verified_at, failing_since
                                   FROM   custom_domains
                                   UNION  ALL
                                   SELECT organization_id, domain, verified_at, failing_since
                                   FROM   domain_routes
                                   WHERE  made_for IS NULL) AS claims
                           WHERE  organization_id = %(organization_id)s AND {PROVED}
                           AND    (domain = %(host)s OR right(%(host)s, length(domain) + 1) = '.' || domain))
                   -- Gatehouse itself is under a custom domain.
                   AND NOT EXISTS (SELECT FROM custom_domains WHERE domain = %(host)s AND verified_at IS NOT NULL)
            """,
            {"organization_id": organization_id, "host": host, **in_force_at(self._transaction.now)},
        )
