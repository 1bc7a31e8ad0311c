"""The sessions that service providers know, in the table `saml_sessions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.saml.messages import NameId
from core.saml.sessions import SamlSession, SessionState
from core.sessions.sessions import IDLE_LIFETIME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.saml.providers import SamlProvider

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
ALIVE: Final = """
    SELECT   s.id
    FROM     sessions s
    JOIN     saml_sessions p ON p.session_id = s.id
    WHERE    s.parent_id = ANY (%(parent_ids)s) AND s.user_id = %(user_id)s
      AND    (%(service_id)s::uuid IS NULL OR p.service_id = %(service_id)s)
      AND    s.revoked_at IS NULL AND s.expires_at > %(now)s AND s.refreshed_at > %(used_since)s
    ORDER BY s.id
    LIMIT    %(limit)s
"""


class PostgresSamlSessions(Aggregate):
    """The port `SamlSessions`."""

    def add(self, session: SamlSession) -> None:
        self._connection.execute_later(
            """
            INSERT INTO saml_sessions (session_id, organization_id, service_id, audience, name_id, name_id_format)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                session.session_id,
                session.organization_id,
                session.service_id,
                session.audience,
                session.name_id.value,
                session.name_id.format,
            ),
        )

    def find(self, session_id: UUID) -> SamlSession | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_session))
            .execute(
                """
                SELECT session_id, organization_id, service_id, audience, name_id, name_id_format
                FROM   saml_sessions
                WHERE  session_id = %s
                """,
                (session_id,),
            )
            .fetchone()
        )

    def named(
        self, provider: SamlProvider, name: str, indexes: Sequence[str], *, domain_id: UUID | None, limit: int
    ) -> Sequence[UUID]:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
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
            .fetchall()
        )

    def states(self, session_ids: Sequence[UUID]) -> Sequence[SessionState]:
        return (
            self._connection.cursor(row_factory=kwargs_row(SessionState))
            .execute(
                """
                SELECT s.id AS session_id, s.parent_id, s.user_id, u.email,
                       s.revoked_at IS NULL AND s.expires_at > %s AND s.refreshed_at > %s AS is_live
                FROM   sessions s
                JOIN   users u ON u.id = s.user_id
                WHERE  s.id = ANY (%s)
                """,
                (self._transaction.now, self._transaction.now - IDLE_LIFETIME, list(session_ids)),
            )
            .fetchall()
        )

    def end_earlier(self, user_id: UUID, parent_id: UUID, provider: SamlProvider) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions s
            SET    revoked_at = %s
            FROM   saml_sessions p
            WHERE  s.parent_id = %s AND s.user_id = %s AND s.revoked_at IS NULL
              AND  p.session_id = s.id AND p.organization_id = %s AND p.service_id = %s
            """,
            (self._transaction.now, parent_id, user_id, provider.organization_id, provider.service_id),
        )

    def alive_of(
        self, user_id: UUID, parent_ids: Sequence[UUID], *, service_id: UUID | None = None, limit: int
    ) -> Sequence[UUID]:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                ALIVE,
                {
                    "user_id": user_id,
                    "parent_ids": list(parent_ids),
                    "service_id": service_id,
                    "now": self._transaction.now,
                    "used_since": self._transaction.now - IDLE_LIFETIME,
                    "limit": limit,
                },
            )
            .fetchall()
        )


def _session(*, name_id: str, name_id_format: str, **columns: Any) -> SamlSession:
    return SamlSession(name_id=NameId(value=name_id, format=name_id_format), **columns)
