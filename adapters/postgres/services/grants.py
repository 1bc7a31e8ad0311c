"""Service grants in their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import MembershipStatus
from core.organizations.relations import ServiceRelation
from core.positions import BEGIN, Position
from core.services.grants import Grantee, GrantsPage, ServiceGrant
from core.services.services import Service

# At least one row where the service exists, for the total.
PAGE: Final = """
    SELECT    (SELECT count(*)
               FROM   service_grants
               WHERE  organization_id = s.organization_id AND service_id = s.id) AS total,
              g.user_id, u.email, m.suspended_at IS NULL AS is_active, g.relation, g.granted_by, g.created_at
    FROM      services s
    LEFT JOIN LATERAL (SELECT   user_id, relation, granted_by, created_at
                       FROM     service_grants
                       WHERE    organization_id = s.organization_id AND service_id = s.id
                       ORDER BY created_at, user_id
                       LIMIT    %(limit)s OFFSET %(offset)s) AS g ON true
    LEFT JOIN users u ON u.id = g.user_id
    LEFT JOIN memberships m ON m.organization_id = %(organization_id)s AND m.user_id = g.user_id
    WHERE     s.organization_id = %(organization_id)s AND s.slug = %(service_slug)s
    ORDER BY  g.created_at, g.user_id
"""
# A grant ends with the membership.
_FOUND: Final = """
    FROM   service_grants g
    JOIN   users u       ON u.id = g.user_id
    JOIN   memberships m ON m.organization_id = g.organization_id AND m.user_id = g.user_id
    WHERE  g.organization_id = %(organization_id)s AND g.service_id = %(service_id)s AND strpos(u.email, %(part)s) > 0
"""
FOUND: Final = f"""
    SELECT   g.user_id, u.email, m.suspended_at IS NULL AS is_active, g.relation, g.granted_by, g.created_at
    {_FOUND}
    AND      (g.created_at, g.user_id) > (%(at)s, %(after)s)
    ORDER BY g.created_at, g.user_id
    LIMIT    %(limit)s
"""
COUNT_FOUND: Final = f"SELECT count(*) FROM (SELECT {_FOUND} LIMIT %(counted_max)s) AS counted"


class PostgresServiceGrants(Aggregate):
    """The port `ServiceGrants`."""

    def page(self, organization_id: UUID, service_slug: str, *, limit: int, offset: int) -> GrantsPage | None:
        rows = self._rows(
            PAGE, {"organization_id": organization_id, "service_slug": service_slug, "limit": limit, "offset": offset}
        )
        if not rows:
            return None
        totals = [row.pop("total") for row in rows]
        return GrantsPage(grants=[_grant(**row) for row in rows if row["user_id"] is not None], total=totals[0])

    def found(self, service: Service, *, part: str, after: Position | None, limit: int) -> Sequence[ServiceGrant]:
        begin = after or BEGIN
        shown = {"at": begin.at, "after": begin.id, "limit": limit}
        return self._all(_grant, FOUND, _found_of(service, part) | shown)

    def count_found(self, service: Service, *, part: str, counted_max: int) -> int:
        return self._value(COUNT_FOUND, _found_of(service, part) | {"counted_max": counted_max})

    def find(self, service: Service, user_id: UUID) -> ServiceGrant | None:
        return self._one(
            _grant,
            """
            SELECT g.user_id, u.email, m.suspended_at IS NULL AS is_active, g.relation, g.granted_by, g.created_at
            FROM   service_grants g
            JOIN   users u       ON u.id = g.user_id
            JOIN   memberships m ON m.organization_id = g.organization_id AND m.user_id = g.user_id
            WHERE  g.organization_id = %s AND g.service_id = %s AND g.user_id = %s
            """,
            (service.organization_id, service.id, user_id),
        )

    def put(self, service: Service, granted: ServiceGrant) -> bool:
        # Selected from the service, so that a service deleted concurrently yields no row instead of an error.
        return self._changes_one(
            """
            INSERT INTO service_grants (service_id, organization_id, user_id, relation, granted_by, created_at)
            SELECT id, organization_id, %s, %s, %s, %s
            FROM   services
            WHERE  organization_id = %s AND id = %s
            FOR    KEY SHARE
            ON CONFLICT (service_id, user_id) DO UPDATE
            SET    relation = excluded.relation, granted_by = excluded.granted_by, created_at = excluded.created_at
            """,
            (
                granted.user.id,
                granted.relation.value,
                granted.granted_by,
                granted.created_at,
                service.organization_id,
                service.id,
            ),
        )

    def remove(self, service: Service, user_id: UUID) -> ServiceRelation | None:
        relation = self._value_or_none(
            """
            DELETE FROM service_grants
            WHERE  organization_id = %s AND service_id = %s AND user_id = %s
            RETURNING relation
            """,
            (service.organization_id, service.id, user_id),
        )
        return ServiceRelation(relation) if relation is not None else None


def _found_of(service: Service, part: str) -> dict[str, Any]:
    return {"organization_id": service.organization_id, "service_id": service.id, "part": part}


def _grant(*, user_id: UUID, email: str, is_active: bool, relation: str, **columns: Any) -> ServiceGrant:
    user = Grantee(id=user_id, email=email, status=MembershipStatus.of(is_active=is_active))
    return ServiceGrant(user=user, relation=ServiceRelation(relation), **columns)
