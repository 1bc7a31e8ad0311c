"""Logouts under way, in the table `saml_logouts`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.saml.logout_steps import Logout
from core.saml.messages import SamlStatus, StatusOf

_LOGOUT: Final = f"SELECT {columns(Logout)} FROM saml_logouts"


class PostgresSamlLogouts(Aggregate):
    """The port `SamlLogouts`."""

    def add(self, logout: Logout, *, state_hash: bytes, browser_hash: bytes) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO saml_logouts ({columns(Logout)}, state_hash, browser_hash)
            VALUES ({placeholders(Logout)}, %(state_hash)s, %(browser_hash)s)
            ON CONFLICT DO NOTHING
            """,
            {
                **values(logout),
                "status": _levels(logout.status),
                "state_hash": state_hash,
                "browser_hash": browser_hash,
            },
        )

    def lock(self, state_hash: bytes, browser_hash: bytes, *, at: datetime) -> Logout | None:
        return self._one(
            _logout,
            f"{_LOGOUT} WHERE state_hash = %s AND browser_hash = %s AND expires_at > %s FOR UPDATE",
            (state_hash, browser_hash, at),
        )

    def lock_awaiting(self, state_hash: bytes, *, at: datetime) -> Logout | None:
        return self._one(
            _logout,
            f"{_LOGOUT} WHERE state_hash = %s AND awaited_id IS NOT NULL AND expires_at > %s FOR UPDATE",
            (state_hash, at),
        )

    def save(self, logout: Logout) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_logouts
            SET    has_begun = %s, to_tell = %s, status = %s, awaited_id = %s, provider_session_id = %s
            WHERE  id = %s AND organization_id IS NOT DISTINCT FROM %s
            """,
            (
                logout.has_begun,
                list(logout.to_tell),
                _levels(logout.status),
                logout.awaited_id,
                logout.provider_session_id,
                logout.id,
                logout.organization_id,
            ),
        )

    def remove(self, logout: Logout) -> None:
        # The row stays until it expires, without its state: the same request must not be taken again.
        self._connection.execute_later(
            """
            UPDATE saml_logouts
            SET    state_hash = sha256(state_hash), relay_state = NULL, named = '{}', to_tell = '{}', awaited_id = NULL
            WHERE  id = %s AND organization_id IS NOT DISTINCT FROM %s
            """,
            (logout.id, logout.organization_id),
        )


def _levels(status: StatusOf) -> list[str]:
    return [one.value for one in (status.first, status.second) if one is not None]


def _logout(*, status: Sequence[str], **columns: Any) -> Logout:
    first, *second = (SamlStatus(one) for one in status)
    return Logout(status=StatusOf(first=first, second=second[0] if second else None), **columns)
