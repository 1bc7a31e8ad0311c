"""Signing keys for tests, which share the few key pairs of a process, because making one takes a tenth of a second."""

from datetime import UTC, datetime
from functools import cache

from adapters.crypto.key_pairs import make_key_pair
from core.sessions.signing_keys import KeyPair, KeyState, SignatureAlgorithm, SigningKey

CREATED_AT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


@cache
def key_pair(number: int, algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256) -> KeyPair:
    """Return the key pair of that number and kind."""
    return make_key_pair(algorithm)


def elliptic_key(state: KeyState) -> SigningKey:
    """Return the elliptic key pair of a state as if stored in that state."""
    return signing_key(state, key_pair(list(KeyState).index(state), SignatureAlgorithm.ES256))


def signing_key(state: KeyState, pair: KeyPair | None = None) -> SigningKey:
    """Return a key pair, or that of the state, as if stored in that state."""
    pair = pair or key_pair(list(KeyState).index(state))
    return SigningKey(
        kid=pair.kid,
        state=state,
        public_pem=pair.public_pem,
        private_pem=pair.private_pem,
        created_at=CREATED_AT,
        algorithm=pair.algorithm,
    )
