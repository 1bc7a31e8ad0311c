"""Signing keys, each kind in a table of its own; their private halves are sealed, each for its own row."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, LiteralString

from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyState, SigningKey

_TABLES: Final[dict[SignatureAlgorithm, LiteralString]] = {
    SignatureAlgorithm.RS256: "signing_keys",
    SignatureAlgorithm.ES256: "elliptic_signing_keys",
}
_COLUMNS: Final = "kid, state, public_pem, private_pem_sealed, created_at, published_until"
_KEYS: Final = f"""
    SELECT algorithm, {_COLUMNS}
    FROM   (SELECT 'RS256' AS algorithm, {_COLUMNS} FROM signing_keys
            UNION ALL
            SELECT 'ES256', {_COLUMNS} FROM elliptic_signing_keys) AS keys
"""


class PostgresSigningKeys(Aggregate):
    """The port `SigningKeys`."""

    def lock(self) -> tuple[SigningKey, ...]:
        # An advisory lock, because two concurrent first starts would find no row to lock.
        self._connection.execute_later("SELECT pg_advisory_xact_lock(hashtext('gatehouse.signing_keys'))")
        return tuple(self._all(self._opened, f"{_KEYS} WHERE state <> 'retired' ORDER BY created_at, kid"))

    def published(self, at: datetime) -> tuple[SigningKey, ...]:
        return tuple(
            self._all(
                self._opened,
                f"{_KEYS} WHERE state <> 'retired' OR published_until > %s ORDER BY created_at, kid",
                (at,),
            )
        )

    def add(self, key: SigningKey) -> None:
        table = _TABLES[key.algorithm]
        self._connection.execute_later(
            f"INSERT INTO {table} ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)",
            (
                key.kid,
                key.state.value,
                key.public_pem,
                self._transaction.vault.seal(
                    key.private_pem.reveal().encode(), table=table, column="private_pem_sealed", row=key.kid
                ),
                key.created_at,
                key.published_until,
            ),
        )

    def save(self, key: SigningKey) -> None:
        self._connection.execute_later(
            f"UPDATE {_TABLES[key.algorithm]} SET state = %s, published_until = %s WHERE kid = %s",
            (key.state.value, key.published_until, key.kid),
        )

    def forget(self, before: datetime) -> int:
        if not self._transaction.may_delete(AgedRows.RETIRED_SIGNING_KEYS):
            return 0
        return sum(
            self._connection.execute(
                f"DELETE FROM {table} WHERE state = 'retired' AND published_until <= %s",
                (before,),
            ).rowcount
            for table in _TABLES.values()
        )

    def _opened(self, *, algorithm: str, kid: str, state: str, private_pem_sealed: bytes, **columns: Any) -> SigningKey:
        kind = SignatureAlgorithm(algorithm)
        private_pem = self._transaction.vault.open(
            private_pem_sealed, table=_TABLES[kind], column="private_pem_sealed", row=kid
        ).decode()
        return SigningKey(kid=kid, state=KeyState(state), private_pem=Secret(private_pem), algorithm=kind, **columns)
