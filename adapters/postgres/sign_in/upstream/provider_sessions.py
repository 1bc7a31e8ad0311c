"""How SAML identity providers name sessions of ours, in the table `provider_sessions`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.sign_in.identities import ProviderSession


class PostgresProviderSessions(Aggregate):
    """The port `ProviderSessions`."""

    def put(self, organization_id: UUID, connection_id: UUID, session_id: UUID, known: ProviderSession) -> None:
        self._connection.execute_later(
            """
            INSERT INTO provider_sessions (session_id, organization_id, connection_id, name_id, name_format,
                                           name_qualifier, sp_name_qualifier, session_index)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (session_id) DO UPDATE
            SET organization_id = excluded.organization_id, connection_id = excluded.connection_id,
                name_id = excluded.name_id, name_format = excluded.name_format,
                name_qualifier = excluded.name_qualifier, sp_name_qualifier = excluded.sp_name_qualifier,
                session_index = excluded.session_index
            """,
            (
                session_id,
                organization_id,
                connection_id,
                known.name_id,
                known.name_format,
                known.name_qualifier,
                known.sp_name_qualifier,
                known.session_index,
            ),
        )

    def named(
        self, organization_id: UUID, connection_id: UUID, name: str, indexes: Sequence[str], *, limit: int
    ) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   session_id
            FROM     provider_sessions
            WHERE    organization_id = %(organization_id)s AND connection_id = %(connection_id)s AND name_id = %(name)s
              AND    (%(indexes)s::text[] = '{}' OR session_index IS NULL OR session_index = ANY (%(indexes)s::text[]))
            ORDER BY session_id DESC
            LIMIT    %(limit)s
            """,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                "name": name,
                "indexes": list(indexes),
                "limit": limit,
            },
        )

    def find(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> ProviderSession | None:
        return self._one(
            ProviderSession,
            """
            SELECT name_id, name_format, name_qualifier, sp_name_qualifier, session_index
            FROM   provider_sessions
            WHERE  organization_id = %s AND connection_id = %s AND session_id = %s
            """,
            (organization_id, connection_id, session_id),
        )
