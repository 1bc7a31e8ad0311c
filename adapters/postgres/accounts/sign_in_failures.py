"""Failed sign-ins in the table `sign_in_failures`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.accounts.sign_in_failures import SignInFailure

_LOCK_KEY_BYTES: Final = 8


class PostgresSignInFailures(Aggregate):
    """The port `SignInFailures`."""

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime, session_id: UUID | None) -> None:
        # The lock makes attempts for one address wait for each other.
        self._connection.execute_later(
            """
            INSERT INTO sign_in_failures (id, email_hash, network, created_at, session_id, has_failed)
            SELECT %s, %s, %s, %s, %s, false
            FROM   (SELECT pg_advisory_xact_lock(%s)) AS lock
            """,
            (
                attempt_id,
                email_hash,
                network,
                at,
                session_id,
                int.from_bytes(email_hash[:_LOCK_KEY_BYTES], signed=True),
            ),
        )

    def since(self, email_hash: bytes, *, failed_since: datetime, undecided_since: datetime) -> Sequence[SignInFailure]:
        return self._all(
            SignInFailure,
            """
            SELECT   network, created_at AS at, session_id
            FROM     sign_in_failures
            WHERE    email_hash = %s AND created_at > %s AND (has_failed OR created_at > %s)
            ORDER BY created_at DESC
            """,
            (email_hash, failed_since, undecided_since),
        )

    def fail(self, attempt_id: UUID) -> None:
        self._connection.execute_later("UPDATE sign_in_failures SET has_failed = true WHERE id = %s", (attempt_id,))

    def remove(self, attempt_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM sign_in_failures WHERE id = %s", (attempt_id,))

    def remove_all(self, email_hash: bytes) -> int:
        return self._connection.execute("DELETE FROM sign_in_failures WHERE email_hash = %s", (email_hash,)).rowcount
