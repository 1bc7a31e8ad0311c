"""The signing keys of the tests: a few key pairs of each kind, and those that the database of an installation has.

They are sealed once by each process, with the master key of all tests.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache
from typing import Final

from adapters.crypto.key_pairs import key_pair_of
from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.driver.connection import RawConnection
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyPair, KeyState, SigningKey
from tests import kept_keys
from tests.kept_keys import rsa_key

CREATED_AT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MASTER_KEY: Final = MasterKey(hashlib.sha256(b"the master key of the tests").digest())
# By kind, the table of the keys.
TABLES: Final = {
    SignatureAlgorithm.RS256: "signing_keys",
    SignatureAlgorithm.ES256: "elliptic_signing_keys",
}
_IN_USE: Final = (KeyState.ACTIVE, KeyState.NEXT)


@cache
def key_pair(number: int, algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256) -> KeyPair:
    """Return the key pair of that number and kind."""
    name = f"signing key {number}"
    return key_pair_of(rsa_key(name) if algorithm is SignatureAlgorithm.RS256 else kept_keys.elliptic_key(name))


def elliptic_key(state: KeyState) -> SigningKey:
    """Return the elliptic key pair of a state as if stored in that state."""
    return signing_key(state, key_pair(list(KeyState).index(state), SignatureAlgorithm.ES256))


def signing_key(state: KeyState, pair: KeyPair | None = None) -> SigningKey:
    """Return a key in this state, with this key pair or the state's own."""
    pair = pair or key_pair(list(KeyState).index(state))
    return SigningKey(
        kid=pair.kid,
        state=state,
        public_pem=pair.public_pem,
        private_pem=pair.private_pem,
        created_at=CREATED_AT,
        algorithm=pair.algorithm,
    )


@cache
def first_keys() -> tuple[SigningKey, ...]:
    """Return the keys that the database of an installation has at first: of each kind an active and a next one."""
    return tuple(
        signing_key(state, key_pair(number, algorithm))
        for algorithm in SignatureAlgorithm
        for number, state in enumerate(_IN_USE)
    )


def insert_first_keys(connection: RawConnection, prefix: str = "") -> None:
    """Insert the first keys as they are stored, each kind into the table with that prefix."""
    with connection.cursor() as cursor:
        for table, row in _rows():
            cursor.execute(f"INSERT INTO {prefix}{table} VALUES (%s, %s, %s, %s, %s, NULL)".encode(), row)


@cache
def _rows() -> tuple[tuple[str, tuple[object, ...]], ...]:
    vault = Vault([MASTER_KEY])
    return tuple((TABLES[key.algorithm], _row(key, vault)) for key in first_keys())


def _row(key: SigningKey, vault: Vault) -> tuple[object, ...]:
    sealed = vault.seal(
        key.private_pem.reveal().encode(), table=TABLES[key.algorithm], column="private_pem_sealed", row=key.kid
    )
    return key.kid, key.state.value, key.public_pem, sealed, key.created_at
