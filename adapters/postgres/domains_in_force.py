"""Which claims to domains are in force, and which of them enforce a sign-in; every area's statements ask for that."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from core.organizations.domain_proofs import FAILING_MAX

# What `DomainProof.is_in_force` says, for the only claim of a statement.
PROVED: Final = "verified_at IS NOT NULL AND (failing_since IS NULL OR failing_since > %(failing_after)s)"
# The same for a mail domain, in a statement with a single `route`: a vendor's claim for a customer proves nothing.
IN_FORCE: Final = f"{PROVED} AND made_for IS NULL"
# The route of the mail domain of a user `u` that enforces its connection `c`, if there is one. The index of verified
# claims finds at most one row, and for most domains none.
ENFORCED_ROUTE: Final = f"""
    FROM   domain_routes route
    JOIN   upstream_connections c  ON c.organization_id = route.organization_id AND c.id = route.connection_id
                                  AND c.enabled
    JOIN   organizations enforcing ON enforcing.id = route.organization_id AND enforcing.status = 'active'
    WHERE  route.domain = split_part(u.email, '@', 2) AND route.enforced AND {IN_FORCE}
"""


def in_force_at(now: datetime) -> dict[str, datetime]:
    """Return the value of `PROVED` and `IN_FORCE` at that time."""
    return {"failing_after": now - FAILING_MAX}
