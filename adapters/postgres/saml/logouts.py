"""Logouts under way, in the table `saml_logouts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.saml.logouts import Logout
from core.saml.messages import Status, StatusOf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_LOGOUT: Final = """
    SELECT id, organization_id, service_id, message_id, relay_state, is_signed, named, has_begun, to_tell, status,
           awaited_id, created_at, expires_at
    FROM   saml_logouts
"""


class PostgresSamlLogouts(Aggregate):
    """The port `SamlLogouts`."""

    def add(self, logout: Logout, *, state_hash: bytes, browser_hash: bytes) -> bool:
        added = self._connection.execute(
            """
            INSERT INTO saml_logouts (id, state_hash, browser_hash, organization_id, service_id, message_id,
                                      relay_state, is_signed, named, has_begun, to_tell, status, awaited_id,
                                      created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (service_id, message_id) DO NOTHING
            """,
            (
                logout.id,
                state_hash,
                browser_hash,
                logout.organization_id,
                logout.service_id,
                logout.message_id,
                logout.relay_state,
                logout.is_signed,
                list(logout.named),
                logout.has_begun,
                list(logout.to_tell),
                _levels(logout.status),
                logout.awaited_id,
                logout.created_at,
                logout.expires_at,
            ),
        )
        return added.rowcount == 1

    def lock(self, state_hash: bytes, browser_hash: bytes, *, at: datetime) -> Logout | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_logout))
            .execute(
                f"{_LOGOUT} WHERE state_hash = %s AND browser_hash = %s AND expires_at > %s FOR UPDATE",
                (state_hash, browser_hash, at),
            )
            .fetchone()
        )

    def lock_awaiting(self, state_hash: bytes, *, at: datetime) -> Logout | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_logout))
            .execute(
                f"{_LOGOUT} WHERE state_hash = %s AND awaited_id IS NOT NULL AND expires_at > %s FOR UPDATE",
                (state_hash, at),
            )
            .fetchone()
        )

    def save(self, logout: Logout) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_logouts
            SET    has_begun = %s, to_tell = %s, status = %s, awaited_id = %s
            WHERE  id = %s
            """,
            (logout.has_begun, list(logout.to_tell), _levels(logout.status), logout.awaited_id, logout.id),
        )

    def remove(self, logout: Logout) -> None:
        # The row stays until it expires, without its state: the same request must not be taken again.
        self._connection.execute_later(
            """
            UPDATE saml_logouts
            SET    state_hash = sha256(state_hash), relay_state = NULL, named = '{}', to_tell = '{}', awaited_id = NULL
            WHERE  id = %s
            """,
            (logout.id,),
        )


def _levels(status: StatusOf) -> list[str]:
    return [one.value for one in (status.first, status.second) if one is not None]


def _logout(*, status: Sequence[str], **columns: Any) -> Logout:
    first, *second = (Status(one) for one in status)
    return Logout(status=StatusOf(first=first, second=second[0] if second else None), **columns)
