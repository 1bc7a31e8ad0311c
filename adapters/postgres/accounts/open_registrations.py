"""Registrations of addresses that are not proved, in the table `open_registrations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.accounts.open_registrations import OpenRegistration

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

_OPEN: Final = """
    SELECT id, user_id, email, password_hash, data, ip_address, geo_country, geo_city, created_at, expires_at
    FROM   open_registrations
    WHERE  user_id = %s AND (expires_at IS NULL OR expires_at > %s)
"""


class PostgresOpenRegistrations(Aggregate):
    """The port `OpenRegistrations`."""

    def add(self, registration: OpenRegistration) -> None:
        self._connection.execute_later(
            """
            INSERT INTO open_registrations (id, user_id, email, password_hash, data, ip_address, geo_country, geo_city,
                                            created_at, expires_at)
            SELECT %s, id, %s, %s, %s, %s, %s, %s, %s, %s
            FROM   users
            WHERE  id = %s
            """,
            (
                registration.id,
                registration.email,
                registration.password_hash,
                Jsonb(registration.data),
                registration.ip_address,
                registration.geo_country,
                registration.geo_city,
                registration.created_at,
                registration.expires_at,
                registration.user_id,
            ),
        )

    def find(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> OpenRegistration | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(OpenRegistration))
            .execute(f"{_OPEN} AND id = %s", (user_id, at, registration_id))
            .fetchone()
        )

    def sole(self, user_id: UUID, email: str, *, at: datetime) -> OpenRegistration | None:
        found = (
            self._connection.cursor(row_factory=kwargs_row(OpenRegistration))
            .execute(f"{_OPEN} AND email = %s LIMIT 2", (user_id, at, email))
            .fetchall()
        )
        return found[0] if len(found) == 1 else None

    def remove(self, user_id: UUID, registration_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM open_registrations WHERE user_id = %s AND id = %s", (user_id, registration_id)
        )
        self._connection.execute_later(
            """
            UPDATE users
            SET    password_hash = (SELECT   password_hash
                                    FROM     open_registrations
                                    WHERE    user_id = users.id AND email = users.email
                                    ORDER BY created_at DESC, id DESC
                                    LIMIT    1)
            WHERE  id = %s
            """,
            (user_id,),
        )

    def remove_all(self, user_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM open_registrations WHERE user_id = %s", (user_id,))
