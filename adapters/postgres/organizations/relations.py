"""Relations, read from their view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.relations import Relation, RelationObject

# By ids rather than by the texts of the tuples, because the tables are indexed by ids.
BETWEEN: Final = """
    SELECT r.object, r.relation, r.subject, c.permissions AS custom_permissions
    FROM   relations r
    LEFT   JOIN organization_roles c
           ON c.organization_id = r.organization_id AND c.slug = r.relation AND r.service_id IS NULL
    WHERE  r.organization_id = %(organization_id)s
      AND  r.user_id = %(user_id)s
      AND  (r.service_id IS NULL OR r.service_id = %(service_id)s)
      AND  (%(service_id)s::uuid IS NULL
            OR EXISTS (SELECT FROM services WHERE id = %(service_id)s AND organization_id = %(organization_id)s))
"""


class PostgresRelations(Aggregate):
    """The port `Relations`."""

    def between(self, object_: RelationObject, user_id: UUID) -> Sequence[Relation]:
        return self._all(
            Relation,
            BETWEEN,
            {"organization_id": object_.organization_id, "service_id": object_.service_id, "user_id": user_id},
        )
