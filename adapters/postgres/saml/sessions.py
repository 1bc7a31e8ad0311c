"""The sessions that service providers know, in the table `saml_sessions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.saml.identity_providers import SamlProvider
from core.saml.messages import NameId
from core.saml.sessions import SamlSession, SessionState
from core.services.services import Service
from core.sessions.sessions import Session

if TYPE_CHECKING:
    from core.deferred import Deferred

NAMED: Final = """
    SELECT   session_id
    FROM     saml_sessions
    WHERE    organization_id = %(organization_id)s AND service_id = %(service_id)s AND name_id = %(name)s
      AND    (%(indexes)s::text[] = '{}' OR session_id::text = ANY (%(indexes)s::text[]))
      AND    (SELECT    b.domain_id
              FROM      sessions s
              LEFT JOIN browser_sessions b ON b.session_id = s.parent_id
              WHERE     s.id = saml_sessions.session_id) IS NOT DISTINCT FROM %(domain_id)s::uuid
    ORDER BY session_id DESC
    LIMIT    %(limit)s
"""
# Not a join, for which all sessions of the service could be read instead of the few of the parent.
END_EARLIER: Final = """
    UPDATE sessions s
    SET    revoked_at = %s
    WHERE  s.parent_id = %s AND s.user_id = %s AND s.revoked_at IS NULL
      AND  s.customer_id IS NOT DISTINCT FROM %s::uuid
      AND  (SELECT p.organization_id = %s AND p.service_id = %s FROM saml_sessions p WHERE p.session_id = s.id)
"""
ALIVE: Final = f"""
    SELECT   s.id
    FROM     sessions s
    JOIN     saml_sessions p ON p.session_id = s.id
    WHERE    s.parent_id = ANY (%(parent_ids)s) AND s.user_id = %(user_id)s
      AND    (%(service_id)s::uuid IS NULL OR p.service_id = %(service_id)s)
      AND    {IS_LIVE}
    ORDER BY s.id
    LIMIT    %(limit)s
"""
LIVE_OF_SERVICE: Final = f"""
    SELECT count(*)
    FROM   (SELECT
            FROM   saml_sessions p
            JOIN   sessions s ON s.id = p.session_id
            WHERE  p.organization_id = %(organization_id)s AND p.service_id = %(service_id)s AND {IS_LIVE}
            LIMIT  %(counted_max)s) AS live
"""


class PostgresSamlSessions(Aggregate):
    """The port `SamlSessions`."""

    def add(self, session: SamlSession) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO saml_sessions ({columns(SamlSession)}, name_id_format)
            VALUES ({placeholders(SamlSession)}, %(name_id_format)s)
            """,
            {**values(session), "name_id": session.name_id.value, "name_id_format": session.name_id.format},
        )

    def find(self, session_id: UUID) -> SamlSession | None:
        return self._one(
            _session,
            f"""
            SELECT {columns(SamlSession)}, name_id_format
            FROM   saml_sessions
            WHERE  session_id = %s
            """,
            (session_id,),
        )

    def named(
        self, provider: SamlProvider, name: str, indexes: Sequence[str], *, domain_id: UUID | None, limit: int
    ) -> Sequence[UUID]:
        return self._values(
            NAMED,
            {
                "organization_id": provider.organization_id,
                "service_id": provider.service_id,
                "name": name,
                "indexes": list(indexes),
                "domain_id": domain_id,
                "limit": limit,
            },
        )

    def states(self, session_ids: Sequence[UUID]) -> Sequence[SessionState]:
        return self._all(
            SessionState,
            f"""
            SELECT s.id AS session_id, s.parent_id, s.user_id, u.email, {IS_LIVE} AS is_live
            FROM   sessions s
            JOIN   users u ON u.id = s.user_id
            WHERE  s.id = ANY (%(session_ids)s)
            """,
            {"session_ids": list(session_ids), **live_at(self._transaction.now)},
        )

    def end_earlier(self, session: Session, parent_id: UUID, provider: SamlProvider) -> None:
        self._connection.execute_later(
            END_EARLIER,
            (
                self._transaction.now,
                parent_id,
                session.user_id,
                session.customer_id,
                provider.organization_id,
                provider.service_id,
            ),
        )

    def count_live(self, service: Service, *, counted_max: int) -> int:
        return self._value(
            LIVE_OF_SERVICE,
            {
                "organization_id": service.organization_id,
                "service_id": service.id,
                "counted_max": counted_max,
                **live_at(self._transaction.now),
            },
        )

    def defer_alive_of(
        self, user_id: UUID, parent_ids: Sequence[UUID], *, service_id: UUID | None = None, limit: int
    ) -> Deferred[Sequence[UUID]]:
        return self._defer_values(
            ALIVE,
            {
                "user_id": user_id,
                "parent_ids": list(parent_ids),
                "service_id": service_id,
                "limit": limit,
                **live_at(self._transaction.now),
            },
        )


def _session(*, name_id: str, name_id_format: str, **columns: Any) -> SamlSession:
    return SamlSession(name_id=NameId(value=name_id, format=name_id_format), **columns)
