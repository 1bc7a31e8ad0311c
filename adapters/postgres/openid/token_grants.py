"""Authorization codes in the table `authorization_codes`, and ids that were used up in `single_uses`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, json_or_null, placeholders, values
from adapters.postgres.sessions.callers import NEW_REFRESHABLE, CallersBySession, live_at, refreshable_row
from adapters.postgres.transaction import Aggregate
from core.openid.token_grants import AuthorizationCode, UsedCode

if TYPE_CHECKING:
    from core.deferred import Deferred
    from core.sessions.refresh import Refreshable

_OF_CODE: Final = "(SELECT session_id FROM authorization_codes WHERE code_hash = %(code_hash)s)"
SESSION: Final = NEW_REFRESHABLE.replace("%(session_id)s", _OF_CODE)


class PostgresAuthorizationCodes(CallersBySession):
    """The port `AuthorizationCodes`."""

    def add(self, code_hash: bytes, code: AuthorizationCode) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO authorization_codes ({columns(AuthorizationCode)}, code_hash, created_at)
            VALUES ({placeholders(AuthorizationCode)}, %(code_hash)s, %(now)s)
            """,
            values(code)
            | {
                "requested_claims": json_or_null(code.requested_claims),
                "code_hash": code_hash,
                "now": self._transaction.now,
            },
        )

    def defer_use(self, code_hash: bytes, client_id: UUID) -> Deferred[AuthorizationCode | None]:
        return self._defer_one(
            AuthorizationCode,
            f"""
            UPDATE authorization_codes c
            SET    used_at = %(now)s
            FROM   services s
            WHERE  c.code_hash = %(code_hash)s AND c.used_at IS NULL AND c.expires_at > %(now)s
              AND  s.organization_id = c.organization_id AND s.id = c.service_id AND s.client_id = %(client_id)s
            RETURNING {columns(AuthorizationCode, table="c")}
            """,
            {"code_hash": code_hash, "client_id": client_id, "now": self._transaction.now},
        )

    def defer_session(self, code_hash: bytes) -> Deferred[Refreshable | None]:
        known = {"code_hash": code_hash, **live_at(self._transaction.now)}
        return self._defer_without_extras(refreshable_row, SESSION, known)

    def find_used(self, code_hash: bytes, organization_id: UUID, service_id: UUID) -> UsedCode | None:
        return self._one(
            UsedCode,
            """
            SELECT s.id AS session_id, u.id AS user_id, u.email
            FROM   authorization_codes c
            JOIN   sessions s ON s.id = c.session_id
            JOIN   users u ON u.id = s.user_id
            WHERE  c.code_hash = %s AND c.organization_id = %s AND c.service_id = %s AND c.used_at IS NOT NULL
            """,
            (code_hash, organization_id, service_id),
        )


class PostgresSingleUses(Aggregate):
    """The port `SingleUses`."""

    def claim(self, id_hash: bytes, *, until: datetime) -> bool:
        return self._changes_one(
            "INSERT INTO single_uses (id_hash, expires_at) VALUES (%s, %s) ON CONFLICT (id_hash) DO NOTHING",
            (id_hash, until),
        )

    def defer_has(self, id_hash: bytes) -> Deferred[bool]:
        found = self._defer_value_or_none("SELECT true FROM single_uses WHERE id_hash = %s", (id_hash,))
        return lambda: found() is not None
