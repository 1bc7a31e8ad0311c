"""Devices that wait for their users, in the table `device_codes`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.openid.clients import client_row
from adapters.postgres.services.services import SELECT_SERVICE
from adapters.postgres.transaction import Aggregate
from core.openid.device import DeviceCode, WaitingDevice


class PostgresDeviceCodes(Aggregate):
    """The port `DeviceCodes`."""

    def add(self, device_code_hash: bytes, user_code_hash: bytes, device: DeviceCode) -> bool:
        return self._changes_one(
            """
            INSERT INTO device_codes (device_code_hash, user_code_hash, organization_id, service_id, scopes,
                                      audience, ip_address, user_agent, created_at, expires_at, interval_seconds,
                                      host, customer)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (user_code_hash) DO NOTHING
            """,
            (
                device_code_hash,
                user_code_hash,
                device.organization_id,
                device.service_id,
                list(device.scopes),
                device.audience,
                device.ip_address,
                device.user_agent,
                device.created_at,
                device.expires_at,
                device.interval.total_seconds(),
                device.host,
                device.customer,
            ),
        )

    def waiting(self, user_code_hash: bytes) -> tuple[DeviceCode, WaitingDevice] | None:
        return self._one(_waiting, WAITING, (user_code_hash,))

    def answer(self, user_code_hash: bytes, *, session_id: UUID | None) -> bool:
        return self._changes_one(
            """
            UPDATE device_codes
            SET    session_id = %(session_id)s,
                   denied_at = CASE WHEN %(session_id)s::uuid IS NULL THEN %(now)s::timestamptz END
            WHERE  user_code_hash = %(user_code_hash)s AND expires_at > %(now)s
              AND  session_id IS NULL AND denied_at IS NULL
            """,
            {"session_id": session_id, "now": self._transaction.now, "user_code_hash": user_code_hash},
        )

    def lock(self, device_code_hash: bytes) -> DeviceCode | None:
        return self._one(
            DeviceCode,
            """
            SELECT d.organization_id, d.service_id, d.scopes, d.audience, d.ip_address, d.user_agent, d.created_at,
                   d.expires_at, make_interval(secs => d.interval_seconds) AS interval, d.host, d.polled_at,
                   d.denied_at, d.session_id, d.used_at, u.id AS user_id, u.email,
                   coalesce(v.service_type IN ('web', 'api'), false) AS is_of_confidential_service
            FROM   device_codes d
            LEFT   JOIN services v ON v.organization_id = d.organization_id AND v.id = d.service_id
            LEFT   JOIN sessions s ON s.id = d.session_id
            LEFT   JOIN users u ON u.id = s.user_id
            WHERE  d.device_code_hash = %s
            FOR    UPDATE OF d
            """,
            (device_code_hash,),
        )

    def note_poll(self, device_code_hash: bytes, *, interval: timedelta) -> None:
        self._connection.execute_later(
            "UPDATE device_codes SET polled_at = %s, interval_seconds = %s WHERE device_code_hash = %s",
            (self._transaction.now, int(interval.total_seconds()), device_code_hash),
        )

    def use(self, device_code_hash: bytes) -> None:
        self._connection.execute_later(
            "UPDATE device_codes SET used_at = %s WHERE device_code_hash = %s",
            (self._transaction.now, device_code_hash),
        )


_OF_DEVICE: Final = (
    "ip_address",
    "user_agent",
    "expires_at",
    "interval",
    "audience",
    "denied_at",
    "session_id",
    "customer",
)
WAITING: Final = f"""
    {SELECT_SERVICE}, o.name AS organization_name, o.slug AS organization_slug,
           o.status = 'active' AS is_organization_active, s.client_secret_hash AS secret_hash,
           s.previous_secret_hash, d.ip_address, d.user_agent, d.created_at AS began_at, d.expires_at,
           make_interval(secs => d.interval_seconds) AS interval, d.scopes AS asked_scopes, d.audience, d.denied_at,
           d.session_id, d.customer
    FROM   device_codes d
    LEFT   JOIN (services s JOIN organizations o ON o.id = s.organization_id AND o.status <> 'deleting')
           ON s.organization_id = d.organization_id AND s.id = d.service_id
    WHERE  d.user_code_hash = %s
"""


def _waiting(
    *, organization_name: str | None, began_at: datetime, asked_scopes: list[str], **columns: Any
) -> tuple[DeviceCode, WaitingDevice]:
    device = {name: columns.pop(name) for name in _OF_DEVICE}
    client = client_row(**columns) if columns["id"] is not None else None
    return (
        DeviceCode(
            organization_id=client.service.organization_id if client is not None else None,
            service_id=client.service.id if client is not None else None,
            created_at=began_at,
            scopes=asked_scopes,
            **device,
        ),
        WaitingDevice(
            client=client,
            organization_name=organization_name,
            ip_address=device["ip_address"],
            user_agent=device["user_agent"],
            created_at=began_at,
            customer=device["customer"],
            scopes=asked_scopes,
        ),
    )
