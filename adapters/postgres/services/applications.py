"""The applications of a person, by the index of their links; what each has is read for the listed ones alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.sessions.sessions import within_values
from adapters.postgres.transaction import Aggregate
from core.organizations.departures import LinkOrigin
from core.services.applications import Application
from core.sessions.caller_limits import Confinement

PAGE: Final = f"""
    WITH links AS MATERIALIZED (
        SELECT   l.*, count(*) OVER () AS total
        FROM     service_users l
        WHERE    l.user_id = %(user_id)s AND l.last_login_at IS NOT NULL
          AND    (%(service_id)s::uuid IS NULL OR l.service_id = %(service_id)s)
          AND    (%(within)s::uuid IS NULL
                  OR (l.organization_id = %(within)s
                      AND (%(within_service)s::uuid IS NULL OR l.service_id = %(within_service)s)))
          AND    NOT EXISTS (SELECT FROM organizations WHERE id = l.organization_id AND status = 'deleting')
        ORDER BY l.last_login_at DESC, l.service_id
        LIMIT    %(limit)s),
    alive AS MATERIALIZED (
        SELECT s.id, s.service_id, s.refreshed_at
        FROM   sessions s
        WHERE  s.user_id = %(user_id)s AND s.service_id IN (SELECT service_id FROM links)
          AND  s.impersonator_id IS NULL AND {IS_LIVE})
    SELECT   l.total, v.id, v.client_id, v.name AS client_name, o.id AS organization_id, o.slug AS org_slug,
             o.name AS organization_name, v.slug AS service_slug, coalesce(c.enabled, false) AS is_saml,
             ARRAY(SELECT   DISTINCT unnest(g.scopes)
                   FROM     alive a
                   JOIN     client_grants g ON g.session_id = a.id
                   WHERE    a.service_id = l.service_id
                   ORDER BY 1) AS scopes,
             l.first_login_at AS created_at, greatest(l.last_login_at, a.used_at) AS last_used_at, a.sessions, l.origin,
             EXISTS (SELECT FROM subscriptions b
                     WHERE  b.service_id = l.service_id AND b.user_id = l.user_id
                       AND  b.status IN ('active', 'past_due')) AS is_subscribed
    FROM     links l
    JOIN     organizations o ON o.id = l.organization_id
    JOIN     services v ON v.id = l.service_id AND v.organization_id = l.organization_id
    LEFT     JOIN saml_configurations c ON c.service_id = l.service_id AND c.organization_id = l.organization_id
    CROSS    JOIN LATERAL (
                 SELECT count(*) AS sessions, max(refreshed_at) AS used_at
                 FROM   alive
                 WHERE  service_id = l.service_id) AS a
    ORDER BY last_used_at DESC, v.id
"""


class PostgresApplicationsOfUser(Aggregate):
    """The port `ApplicationsOfUser`."""

    def of_user(self, user_id: UUID, *, limits: Confinement | None, limit: int) -> tuple[Sequence[Application], int]:
        return self._read(user_id, None, limits, limit)

    def find(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> Application | None:
        found, _ = self._read(user_id, service_id, limits, 1)
        return found[0] if found else None

    def _read(
        self, user_id: UUID, service_id: UUID | None, limits: Confinement | None, limit: int
    ) -> tuple[Sequence[Application], int]:
        return self._page_of(
            _application,
            PAGE,
            {
                "user_id": user_id,
                "service_id": service_id,
                "limit": limit,
                **within_values(limits),
                **live_at(self._transaction.now),
            },
        )


def _application(*, origin: str, **columns: Any) -> Application:
    return Application(origin=LinkOrigin(origin), **columns)
