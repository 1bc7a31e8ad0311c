"""The credentials whose maker is neither owner nor admin of their organization now, and names, by scans of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adapters.postgres.organizations.departures import VALID, label_of
from adapters.postgres.transaction import Aggregate
from core.organizations.departures import MadeCredentialKind
from core.platform.doctor import KeptCredential, PublicName

# The maker of a token or key is forgotten with the account; of the other kinds none may have been recorded.
CANDIDATES: Final = f"""
    SELECT   o.slug AS organization_slug, c.kind, c.label, c.url, c.permissions, c.kept_role, c.kept_permissions,
             m.role, r.permissions AS role_permissions,
             EXISTS (SELECT FROM service_grants g
                     WHERE  g.organization_id = c.organization_id AND g.service_id = c.service_id
                     AND    g.user_id = c.made_by AND g.relation = 'manager') AS manages_service
    FROM     ({VALID}) AS c
    JOIN     organizations o ON o.id = c.organization_id
    LEFT     JOIN memberships m
             ON m.organization_id = c.organization_id AND m.user_id = c.made_by AND m.suspended_at IS NULL
    LEFT     JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
    WHERE    (m.role IS NULL OR m.role NOT IN ('owner', 'admin'))
    AND      (c.made_by IS NOT NULL OR c.kind IN ('SCIM token', 'API key', 'workload'))
    ORDER BY o.slug, c.kind, c.label, c.url
"""


class PostgresLeftCredentials(Aggregate):
    """The port `LeftCredentials`."""

    def candidates(self) -> Sequence[KeptCredential]:
        return self._all(_credential, CANDIDATES, {"now": self._transaction.now}, prepare=False)


def _credential(
    *, kind: str, label: str, url: str | None, permissions: list[str] | None, **columns: Any
) -> KeptCredential:
    return KeptCredential(
        kind=MadeCredentialKind(kind), label=label_of(label, url), permissions=permissions or [], **columns
    )


class PostgresPublicNames(Aggregate):
    """The port `PublicNames`."""

    def dotted(self) -> Sequence[PublicName]:
        return self._all(
            PublicName,
            """
            WITH   named (place, name) AS (
                       SELECT 'service ' || o.slug || '/' || s.slug, s.name
                       FROM   services s
                       JOIN   organizations o ON o.id = s.organization_id
                       UNION ALL
                       SELECT 'plan ' || p.id || ' of ' || o.slug || '/' || s.slug, p.name
                       FROM   plans p
                       JOIN   services s ON s.organization_id = p.organization_id AND s.id = p.service_id
                       JOIN   organizations o ON o.id = p.organization_id
                       UNION ALL
                       SELECT 'connection ' || c.id || ' of ' || o.slug, c.name
                       FROM   upstream_connections c
                       JOIN   organizations o ON o.id = c.organization_id)
            SELECT   place, name
            FROM     named
            WHERE    normalize(name, NFKC) ~ '[.\u3002]|://'
            ORDER BY place
            """,
        )
