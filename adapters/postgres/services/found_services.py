"""Services in the console, found among the services of their organization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.limits import COUNTED_MAX
from core.positions import Position
from core.services.found_services import ListedService, ServiceEnding
from core.services.services import ServiceType

_FILTERED: Final = """
    SELECT id, slug, name, service_type, created_at
    FROM   services
    WHERE  organization_id = %(organization_id)s
      AND  (%(part)s = '' OR strpos(lower(name), %(part)s) > 0 OR strpos(slug, %(part)s) > 0
            OR client_id::text = %(part)s)
"""
PAGE: Final = f"""
    WITH page AS MATERIALIZED (
        {_FILTERED}
        AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s))
        ORDER BY created_at, id
        LIMIT %(limit)s)
    SELECT page.*,
           (SELECT count(*)
            FROM   (SELECT FROM service_users WHERE service_id = page.id LIMIT %(users_max)s) AS linked) AS users
    FROM   page
    ORDER  BY created_at, id
"""
COUNT: Final = f"SELECT count(*) FROM ({_FILTERED} LIMIT %(counted_max)s) AS counted"
_OF_SERVICE: Final = "organization_id = %(organization_id)s AND service_id = %(service_id)s"
FIGURES: Final = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM service_users WHERE {_OF_SERVICE} LIMIT %(most)s) AS one) AS end_users,
           (SELECT count(*) FROM (SELECT FROM sessions s WHERE {_OF_SERVICE} AND {IS_LIVE} LIMIT %(most)s) AS one)
               AS sessions,
           (SELECT count(*) FROM api_keys WHERE {_OF_SERVICE}) AS api_keys,
           (SELECT count(*) FROM plans WHERE {_OF_SERVICE}) AS plans,
           (SELECT count(*) FROM (SELECT FROM subscriptions
                                  WHERE {_OF_SERVICE} AND status IN ('active', 'past_due') LIMIT %(most)s) AS one)
               AS subscriptions,
           (SELECT count(*) FROM service_grants WHERE {_OF_SERVICE}) AS grants
"""


class PostgresFoundServices(Aggregate):
    """The port `FoundServicesOfOrganization`."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int, users_max: int
    ) -> Sequence[ListedService]:
        return self._all(
            _listed,
            PAGE,
            {
                "organization_id": organization_id,
                "part": part,
                "after_at": after.at if after is not None else None,
                "after_id": after.id if after is not None else None,
                "limit": limit,
                "users_max": users_max,
            },
        )

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        return self._value(COUNT, {"organization_id": organization_id, "part": part, "counted_max": counted_max})

    def figures(self, organization_id: UUID, service_id: UUID) -> ServiceEnding:
        [figures] = self._all(
            ServiceEnding,
            FIGURES,
            {
                "organization_id": organization_id,
                "service_id": service_id,
                "most": COUNTED_MAX + 1,
                **live_at(self._transaction.now),
            },
            # Planned for this service: a plan for any service reads the users of all services of the organization.
            prepare=False,
        )
        return figures


def _listed(*, service_type: str, **columns: Any) -> ListedService:
    return ListedService(service_type=ServiceType(service_type), **columns)
