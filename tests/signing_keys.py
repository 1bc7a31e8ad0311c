"""Signing keys for tests, as the database returns them."""

from datetime import UTC, datetime

from adapters.crypto.key_pairs import make_key_pair
from core.sessions.signing_keys import KeyState, SigningKey

CREATED_AT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def signing_key(state: KeyState) -> SigningKey:
    """Return a new key as if stored in that state."""
    pair = make_key_pair()
    return SigningKey(
        kid=pair.kid, state=state, public_pem=pair.public_pem, private_pem=pair.private_pem, created_at=CREATED_AT
    )
