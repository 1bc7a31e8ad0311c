"""Registrations of addresses that are not proved, in the table `open_registrations`."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.accounts.open_registrations import OpenRegistration

_OPEN: Final = f"""
    SELECT {columns(OpenRegistration)}
    FROM   open_registrations
    WHERE  user_id = %s AND (expires_at IS NULL OR expires_at > %s)
"""


class PostgresOpenRegistrations(Aggregate):
    """The port `OpenRegistrations`."""

    def add(self, registration: OpenRegistration) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO open_registrations ({columns(OpenRegistration)})
            SELECT {placeholders(OpenRegistration)}
            FROM   users
            WHERE  id = %(user_id)s
            """,
            values(registration),
        )

    def find(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> OpenRegistration | None:
        return self._one(OpenRegistration, f"{_OPEN} AND id = %s", (user_id, at, registration_id))

    def sole(self, user_id: UUID, email: str, *, at: datetime) -> OpenRegistration | None:
        found = self._all(OpenRegistration, f"{_OPEN} AND email = %s LIMIT 2", (user_id, at, email))
        return found[0] if len(found) == 1 else None

    def with_hash(self, user_id: UUID, email: str, password_hash: str, *, at: datetime) -> OpenRegistration | None:
        return self._one(
            OpenRegistration,
            f"{_OPEN} AND email = %s AND password_hash = %s ORDER BY created_at, id LIMIT 1",
            (user_id, at, email, password_hash),
        )

    def prolong(self, user_id: UUID, registration_id: UUID, *, until: datetime | None) -> None:
        self._connection.execute_later(
            """
            UPDATE open_registrations
            SET    expires_at = %s
            WHERE  user_id = %s AND id = %s AND expires_at IS NOT NULL
            """,
            (until, user_id, registration_id),
        )

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
