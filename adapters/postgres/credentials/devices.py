"""Devices and their tokens in the tables `devices` and `device_tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import dict_row, kwargs_row
from adapters.postgres.transaction import Aggregate
from core.credentials.devices import Device, DeviceState, RenamedDevice
from core.credentials.user_agents import DeviceType
from core.sign_in.recognition import DeviceToken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.deferred import Deferred


class PostgresDevices(Aggregate):
    """The port `Devices`."""

    def defer_recognized(
        self, user_id: UUID, token_hash: bytes | None, user_agent: str | None, *, at: datetime
    ) -> Deferred[tuple[Device | None, DeviceToken | None]]:
        found = self._connection.cursor(row_factory=kwargs_row(_recognized)).defer(
            """
            (SELECT d.id, d.user_id, d.name, d.device_type, d.browser, d.browser_version, d.os, d.os_version,
                    d.user_agent, d.last_used_at, d.last_ip, d.last_city, d.last_country, d.risk_score,
                    d.created_at, d.updated_at, d.revoked_at,
                    t.token_hash, t.created_at AS issued_at, t.expires_at, t.mfa_trusted_at
             FROM   device_tokens t
             JOIN   devices d ON d.id = t.device_id
             WHERE  t.token_hash = %(token_hash)s
               AND  t.expires_at > %(at)s
               AND  d.user_id = %(user_id)s
               AND  d.revoked_at IS NULL)
            UNION ALL
            (SELECT   id, user_id, name, device_type, browser, browser_version, os, os_version,
                      user_agent, last_used_at, last_ip, last_city, last_country, risk_score,
                      created_at, updated_at, revoked_at,
                      NULL, NULL, NULL, NULL
             FROM     devices
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
        return lambda: found.fetchone() or (None, None)

    def add(self, device: Device) -> None:
        self._connection.execute_later(
            """
            INSERT INTO devices (id, user_id, name, device_type, browser, browser_version, os, os_version, user_agent,
                                 last_used_at, last_ip, last_city, last_country, risk_score, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (device.id, device.user_id, device.name, *_visit_columns(device), device.created_at, device.updated_at),
        )

    def save_visit(self, device: Device) -> Deferred[bool]:
        saved = self._connection.cursor().defer(
            """
            UPDATE devices
            SET    device_type = %s, browser = %s, browser_version = %s, os = %s, os_version = %s, user_agent = %s,
                   last_used_at = %s, last_ip = %s, last_city = %s, last_country = %s, risk_score = %s
            WHERE  id = %s AND user_id = %s AND revoked_at IS NULL
            """,
            (*_visit_columns(device), device.id, device.user_id),
        )
        return lambda: saved.rowcount == 1

    def by_id(self, device_id: UUID, *, at: datetime) -> DeviceState | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_state))
            .execute(
                """
                SELECT d.id, d.user_id, d.name, d.device_type, d.browser, d.browser_version, d.os, d.os_version,
                       d.user_agent, d.last_used_at, d.last_ip, d.last_city, d.last_country, d.risk_score,
                       d.created_at, d.updated_at, d.revoked_at,
                       (SELECT max(t.mfa_trusted_at)
                        FROM   device_tokens t
                        WHERE  t.device_id = d.id AND t.expires_at > %s) AS mfa_trusted_at,
                       greatest(d.last_used_at,
                                (SELECT max(s.refreshed_at) FROM sessions s WHERE s.device_id = d.id)) AS seen_at
                FROM   devices d
                WHERE  d.id = %s
                """,
                (at, device_id),
            )
            .fetchone()
        )

    def of_user(self, user_id: UUID, *, at: datetime, limit: int) -> tuple[Sequence[DeviceState], int]:
        rows = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                SELECT   d.id, d.user_id, d.name, d.device_type, d.browser, d.browser_version, d.os, d.os_version,
                         d.user_agent, d.last_used_at, d.last_ip, d.last_city, d.last_country, d.risk_score,
                         d.created_at, d.updated_at, d.revoked_at,
                         (SELECT max(t.mfa_trusted_at)
                          FROM   device_tokens t
                          WHERE  t.device_id = d.id AND t.expires_at > %(at)s) AS mfa_trusted_at,
                         greatest(d.last_used_at,
                                  (SELECT max(s.refreshed_at) FROM sessions s WHERE s.device_id = d.id)) AS seen_at,
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
            .fetchall()
        )
        total = rows[0]["total"] if rows else 0
        return [_state(**{name: value for name, value in row.items() if name != "total"}) for row in rows], total

    def rename(self, device_id: UUID, name: str, *, user_id: UUID, at: datetime) -> RenamedDevice | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_renamed))
            .execute(
                """
                UPDATE    devices
                SET       name = %s, updated_at = %s
                WHERE     id = %s AND user_id = %s AND revoked_at IS NULL
                RETURNING id, name, device_type, updated_at
                """,
                (name, at, device_id, user_id),
            )
            .fetchone()
        )

    def remove(self, device_id: UUID, *, user_id: UUID, at: datetime) -> bool:
        is_removed = (
            self._connection.execute(
                "UPDATE devices SET revoked_at = %s WHERE id = %s AND user_id = %s AND revoked_at IS NULL",
                (at, device_id, user_id),
            ).rowcount
            == 1
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


def _device(*, device_type: str, **columns: Any) -> Device:
    return Device(device_type=DeviceType(device_type), **columns)


def _visit_columns(device: Device) -> tuple[object, ...]:
    """Return the columns that a sign-in sets, from the device type to the risk score."""
    return (
        device.device_type,
        device.browser,
        device.browser_version,
        device.os,
        device.os_version,
        device.user_agent,
        device.last_used_at,
        device.last_ip,
        device.last_city,
        device.last_country,
        device.risk_score,
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


def _renamed(*, device_type: str, **columns: Any) -> RenamedDevice:
    return RenamedDevice(device_type=DeviceType(device_type), **columns)
