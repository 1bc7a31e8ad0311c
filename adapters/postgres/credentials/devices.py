"""Devices and their tokens in the tables `devices` and `device_tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import assignments, columns, converted, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.credentials.devices import Device, DeviceState, RenamedDevice
from core.credentials.user_agents import DeviceType
from core.sign_in.recognition import DeviceToken

if TYPE_CHECKING:
    from core.deferred import Deferred

_device: Final = converted(Device, device_type=DeviceType)
_renamed: Final = converted(RenamedDevice, device_type=DeviceType)
# Of a device `d`.
_DEVICE: Final = columns(Device, table="d")
_STATE: Final = f"""
    {_DEVICE},
    (SELECT max(t.mfa_trusted_at)
     FROM   device_tokens t
     WHERE  t.device_id = d.id AND t.expires_at > %(at)s) AS mfa_trusted_at,
    greatest(d.last_used_at,
             (SELECT max(s.refreshed_at) FROM sessions s WHERE s.device_id = d.id)) AS seen_at
"""


class PostgresDevices(Aggregate):
    """The port `Devices`."""

    def defer_recognized(
        self, user_id: UUID, token_hash: bytes | None, user_agent: str | None, *, at: datetime
    ) -> Deferred[tuple[Device | None, DeviceToken | None]]:
        found = self._defer_one(
            _recognized,
            f"""
            (SELECT {_DEVICE},
                    t.token_hash, t.created_at AS issued_at, t.expires_at, t.mfa_trusted_at
             FROM   device_tokens t
             JOIN   devices d ON d.id = t.device_id
             WHERE  t.token_hash = %(token_hash)s
               AND  t.expires_at > %(at)s
               AND  d.user_id = %(user_id)s
               AND  d.revoked_at IS NULL)
            UNION ALL
            (SELECT   {_DEVICE}, NULL, NULL, NULL, NULL
             FROM     devices d
             WHERE    user_id = %(user_id)s
               AND    user_agent IS NOT DISTINCT FROM %(user_agent)s
               AND    revoked_at IS NULL
             ORDER BY last_used_at DESC
             LIMIT    1)
            ORDER BY token_hash NULLS LAST
            LIMIT    1
            """,
            {"user_id": user_id, "token_hash": token_hash, "user_agent": user_agent, "at": at},
        )
        return lambda: found() or (None, None)

    def defer_owner(self, token_hash: bytes, *, at: datetime) -> Deferred[UUID | None]:
        return self._defer_value_or_none(
            """
            SELECT d.user_id
            FROM   device_tokens t
            JOIN   devices d ON d.id = t.device_id
            WHERE  t.token_hash = %s AND t.expires_at > %s AND d.revoked_at IS NULL
            """,
            (token_hash, at),
        )

    def add(self, device: Device) -> None:
        self._connection.execute_later(
            f"INSERT INTO devices ({columns(Device)}) VALUES ({placeholders(Device)})",
            values(device),
        )

    def save_visit(self, device: Device) -> None:
        self._connection.execute_later(
            f"""
            UPDATE devices
            SET    {assignments(Device, without=("id", "user_id", "name", "created_at", "updated_at", "revoked_at"))}
            WHERE  id = %(id)s AND user_id = %(user_id)s AND revoked_at IS NULL
            """,
            values(device),
        )

    def by_id(self, device_id: UUID, *, at: datetime) -> DeviceState | None:
        return self._one(
            _state,
            f"SELECT {_STATE} FROM devices d WHERE d.id = %(id)s",
            {"id": device_id, "at": at},
        )

    def of_user(self, user_id: UUID, *, at: datetime, limit: int) -> tuple[Sequence[DeviceState], int]:
        return self._page_of(
            _state,
            f"""
            SELECT   {_STATE},
                     (SELECT count(*) FROM devices WHERE user_id = %(user_id)s AND revoked_at IS NULL) AS total
            FROM     (SELECT   *
                      FROM     devices
                      WHERE    user_id = %(user_id)s AND revoked_at IS NULL
                      ORDER BY last_used_at DESC
                      LIMIT    %(limit)s) AS d
            ORDER BY seen_at DESC, d.id DESC
            """,
            {"user_id": user_id, "at": at, "limit": limit},
        )

    def rename(self, device_id: UUID, name: str, *, user_id: UUID, at: datetime) -> RenamedDevice | None:
        return self._one(
            _renamed,
            """
            UPDATE    devices
            SET       name = %s, updated_at = %s
            WHERE     id = %s AND user_id = %s AND revoked_at IS NULL
            RETURNING id, name, device_type, updated_at
            """,
            (name, at, device_id, user_id),
        )

    def remove(self, device_id: UUID, *, user_id: UUID, at: datetime) -> bool:
        is_removed = self._changes_one(
            "UPDATE devices SET revoked_at = %s WHERE id = %s AND user_id = %s AND revoked_at IS NULL",
            (at, device_id, user_id),
        )
        if is_removed:
            self._connection.execute_later("DELETE FROM device_tokens WHERE device_id = %s", (device_id,))
        return is_removed

    def add_token(self, token: DeviceToken) -> None:
        self._connection.execute_later(
            """
            INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at)
            VALUES (%s, %s, %s, %s)
            """,
            (token.token_hash, token.device_id, token.created_at, token.expires_at),
        )

    def trust(self, token_hash: bytes, *, at: datetime) -> None:
        self._connection.execute_later(
            "UPDATE device_tokens SET mfa_trusted_at = %s WHERE token_hash = %s", (at, token_hash)
        )

    def delete_tokens(self, user_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM device_tokens WHERE device_id IN (SELECT id FROM devices WHERE user_id = %s)", (user_id,)
        )

    def remove_all(self, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            "UPDATE devices SET revoked_at = %s WHERE user_id = %s AND revoked_at IS NULL", (at, user_id)
        )
        self.delete_tokens(user_id)

    def revoke_trust(self, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE device_tokens
            SET    mfa_trusted_at = NULL
            WHERE  device_id IN (SELECT id FROM devices WHERE user_id = %s) AND mfa_trusted_at IS NOT NULL
            """,
            (user_id,),
        )


def _recognized(
    *,
    token_hash: bytes | None,
    issued_at: datetime,
    expires_at: datetime,
    mfa_trusted_at: datetime | None,
    **columns: Any,
) -> tuple[Device, DeviceToken | None]:
    device = _device(**columns)
    if token_hash is None:
        return device, None
    return device, DeviceToken(
        token_hash=token_hash,
        device_id=device.id,
        created_at=issued_at,
        expires_at=expires_at,
        mfa_trusted_at=mfa_trusted_at,
    )


def _state(*, mfa_trusted_at: datetime | None, seen_at: datetime, **columns: Any) -> DeviceState:
    return DeviceState(device=_device(**columns), mfa_trusted_at=mfa_trusted_at, seen_at=seen_at)
