"""Signing keys in the table `signing_keys`; their private halves are sealed, each for its own row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.sessions.signing_keys import KeyState, SigningKey

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class PostgresSigningKeys(Aggregate):
    """The port `SigningKeys`."""

    def lock(self) -> tuple[SigningKey, ...]:
        # An advisory lock, because two concurrent first starts would find no row to lock.
        self._connection.execute_later("SELECT pg_advisory_xact_lock(hashtext('gatehouse.signing_keys'))")
        return self._opened(
            self._connection.execute(
                """
                SELECT   kid, state, public_pem, private_pem_sealed, created_at, published_until
                FROM     signing_keys
                WHERE    state <> 'retired'
                ORDER BY created_at, kid
                """
            )
        )

    def published(self, at: datetime) -> tuple[SigningKey, ...]:
        return self._opened(
            self._connection.execute(
                """
                SELECT   kid, state, public_pem, private_pem_sealed, created_at, published_until
                FROM     signing_keys
                WHERE    state <> 'retired' OR published_until > %s
                ORDER BY created_at, kid
                """,
                (at,),
            )
        )

    def add(self, key: SigningKey) -> None:
        self._connection.execute_later(
            """
            INSERT INTO signing_keys (kid, state, public_pem, private_pem_sealed, created_at, published_until)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                key.kid,
                key.state.value,
                key.public_pem,
                self._transaction.vault.seal(
                    key.private_pem.reveal().encode(), table="signing_keys", column="private_pem_sealed", row=key.kid
                ),
                key.created_at,
                key.published_until,
            ),
        )

    def save(self, key: SigningKey) -> None:
        self._connection.execute_later(
            "UPDATE signing_keys SET state = %s, published_until = %s WHERE kid = %s",
            (key.state.value, key.published_until, key.kid),
        )

    def forget(self, before: datetime) -> int:
        return self._connection.execute(
            "DELETE FROM signing_keys WHERE state = 'retired' AND published_until <= %s", (before,)
        ).rowcount

    def _opened(self, rows: Iterable[tuple[Any, ...]]) -> tuple[SigningKey, ...]:
        return tuple(
            SigningKey(
                kid=kid,
                state=KeyState(state),
                public_pem=public_pem,
                private_pem=Secret(
                    self._transaction.vault.open(
                        private_pem_sealed, table="signing_keys", column="private_pem_sealed", row=kid
                    ).decode()
                ),
                created_at=created_at,
                published_until=published_until,
            )
            for kid, state, public_pem, private_pem_sealed, created_at, published_until in rows
        )
