"""How the providers of connections name sessions of ours, in the table `provider_sessions`; ID tokens are sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.sign_in.identities import ProviderSession

_ID_TOKEN: Final = {"table": "provider_sessions", "column": "id_token_sealed"}
# Stored sealed.
_SEALED: Final = ("id_token",)
_NAMES: Final = columns(ProviderSession, without=_SEALED)


class PostgresProviderSessions(Aggregate):
    """The port `ProviderSessions`."""

    def put(self, organization_id: UUID, connection_id: UUID, session_id: UUID, known: ProviderSession) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO provider_sessions (session_id, organization_id, connection_id, id_token_sealed, {_NAMES})
            VALUES (%(session_id)s, %(organization_id)s, %(connection_id)s, %(sealed)s,
                    {placeholders(ProviderSession, without=_SEALED)})
            ON CONFLICT (session_id) DO UPDATE
            SET organization_id = excluded.organization_id, connection_id = excluded.connection_id,
                id_token_sealed = excluded.id_token_sealed, {assignments(ProviderSession, without=_SEALED)}
            """,
            {
                **values(known),
                "session_id": session_id,
                "organization_id": organization_id,
                "connection_id": connection_id,
                "sealed": self._sealed(session_id, known.id_token),
            },
        )

    def named(
        self, organization_id: UUID, connection_id: UUID, name: str, indexes: Sequence[str], *, limit: int
    ) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   p.session_id
            FROM     provider_sessions p
            JOIN     sessions s ON s.id = p.session_id
            WHERE    p.organization_id = %(organization_id)s AND p.connection_id = %(connection_id)s
              AND    p.name_id = %(name)s
              AND    (%(indexes)s::text[] = '{}' OR p.session_index IS NULL
                      OR p.session_index = ANY (%(indexes)s::text[]))
            ORDER BY s.revoked_at IS NULL DESC, p.session_id DESC
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

    def of_index(self, organization_id: UUID, connection_id: UUID, index: str, *, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   p.session_id
            FROM     provider_sessions p
            JOIN     sessions s ON s.id = p.session_id
            WHERE    p.organization_id = %s AND p.connection_id = %s AND p.session_index = %s
            ORDER BY s.revoked_at IS NULL DESC, p.session_id DESC
            LIMIT    %s
            """,
            (organization_id, connection_id, index, limit),
        )

    def find(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> ProviderSession | None:
        row = self._row(
            f"""
            SELECT {_NAMES}, id_token_sealed
            FROM   provider_sessions
            WHERE  organization_id = %s AND connection_id = %s AND session_id = %s
            """,
            (organization_id, connection_id, session_id),
        )
        if row is None:
            return None
        sealed = row["id_token_sealed"]
        token = self._transaction.vault.open(sealed, row=session_id, **_ID_TOKEN).decode() if sealed else None
        named = {name: value for name, value in row.items() if name != "id_token_sealed"}
        return ProviderSession(**named, id_token=Secret(token) if token is not None else None)

    def forget_token(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE provider_sessions
            SET    id_token_sealed = NULL
            WHERE  organization_id = %s AND connection_id = %s AND session_id = %s AND id_token_sealed IS NOT NULL
            """,
            (organization_id, connection_id, session_id),
        )

    def _sealed(self, session_id: UUID, token: Secret | None) -> bytes | None:
        if token is None:
            return None
        return self._transaction.vault.seal(token.reveal().encode(), row=session_id, **_ID_TOKEN)


def stored_session(known: ProviderSession) -> dict[str, Any]:
    """Return a session as JSON that is sealed; without an ID token as the versions before have it."""
    token = known.id_token
    named = asdict(replace(known, id_token=None))
    del named["id_token"]
    return named if token is None else {**named, "id_token": token.reveal()}


def known_session(stored: Mapping[str, Any]) -> ProviderSession:
    """Return a session that was stored as JSON."""
    named = dict(stored)
    token = named.pop("id_token", None)
    return ProviderSession(**named, id_token=Secret(token) if token is not None else None)
