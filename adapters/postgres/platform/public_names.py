"""The port `PublicNames`: a scan of three tables, for `gatehouse doctor`."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.postgres.transaction import Aggregate
from core.platform.public_names import PublicName


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
