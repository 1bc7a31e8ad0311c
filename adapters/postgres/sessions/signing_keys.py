"""Signing keys in the table `signing_keys`; their private halves are sealed, each for its own row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.sessions.signing_keys import KeyState, SigningKey

if TYPE_CHECKING:
    from datetime import datetime

_KEY: Final = "SELECT kid, state, public_pem, private_pem_sealed, created_at, published_until FROM signing_keys"


class PostgresSigningKeys(Aggregate):
    """The port `SigningKeys`."""

    def lock(self) -> tuple[SigningKey, ...]:
        # An advisory lock, because two concurrent first starts would find no row to lock.
        self._connection.execute_later("SELECT pg_advisory_xact_lock(hashtext('gatehouse.signing_keys'))")
        return tuple(self._all(self._opened, f"{_KEY} WHERE state <> 'retired' ORDER BY created_at, kid"))

    def published(self, at: datetime) -> tuple[SigningKey, ...]:
        return tuple(
            self._all(
                self._opened,
                f"{_KEY} WHERE state <> 'retired' OR published_until > %s ORDER BY created_at, kid",
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

    def _opened(self, *, kid: str, state: str, private_pem_sealed: bytes, **columns: Any) -> SigningKey:
        private_pem = self._transaction.vault.open(
            private_pem_sealed, table="signing_keys", column="private_pem_sealed", row=kid
        ).decode()
        return SigningKey(kid=kid, state=KeyState(state), private_pem=Secret(private_pem), **columns)
