"""The security log in the table `mfa_events`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.transaction import Aggregate


class PostgresMfaEvents(Aggregate):
    """The port `MfaEvents`."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        self._connection.execute_later(
            """
            INSERT INTO mfa_events (id, user_id, event_type, success, ip_address, user_agent, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self._transaction.randomness.new_id(),
                user_id,
                event_type,
                is_success,
                self._transaction.origin.ip_address,
                self._transaction.origin.user_agent,
                Jsonb({**details, **self._transaction.impersonation}),
                self._transaction.now,
            ),
        )
