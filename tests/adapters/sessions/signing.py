"""Signers and signed tokens for tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from core.sessions.signing_keys import KeyState, SigningKey
from core.sessions.tokens import TokenKind
from tests.signing_keys import signing_key

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
QUARTER_HOUR = timedelta(minutes=15)
ISSUER = "https://id.example.com"
CLAIMS = {"sub": "0191d3c1-0000-7000-8000-000000000001", "aud": "client-1", "email": "ann@example.com"}


ACTIVE, NEXT, RETIRED = signing_key(KeyState.ACTIVE), signing_key(KeyState.NEXT), signing_key(KeyState.RETIRED)


def signer_with(*keys: SigningKey, issuer: str = ISSUER) -> JwtTokenSigner:
    # The clock is stopped, because this ring signs until the end of a run, which may exceed the maximum age of a ring.
    ring = SigningKeyRing(lambda: 0.0)
    ring.load(keys)
    return JwtTokenSigner(ring, issuer=issuer, randomness=SystemRandomness())


SIGNER = signer_with(ACTIVE, NEXT, RETIRED)


def signed(claims: Mapping[str, Any] = CLAIMS, kind: TokenKind = TokenKind.ACCESS) -> str:
    return SIGNER.sign(claims, kind=kind, lifetime=QUARTER_HOUR, now=NOW)
