"""The cache of verified tokens: the signature of a token is verified once."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from core.errors import TokenExpired, TokenInvalid
from core.sessions.tokens import SigningKeyUnknown, TokenKind
from tests.adapters.sessions.signing import ACTIVE, ISSUER, NEXT, NOW, QUARTER_HOUR, signed


class TestVerifiedTokens:
    """The signature of a token is verified once, and everything else about it every time."""

    @pytest.fixture
    def ring(self) -> SigningKeyRing:
        """A ring of keys."""
        ring = SigningKeyRing()
        ring.load([ACTIVE, NEXT])
        return ring

    @pytest.fixture
    def signer(self, ring: SigningKeyRing) -> JwtTokenSigner:
        """A signer with that ring."""
        return JwtTokenSigner(ring, issuer=ISSUER, randomness=SystemRandomness())

    def test_a_signature_is_not_verified_twice(self, signer: JwtTokenSigner, monkeypatch: pytest.MonkeyPatch) -> None:
        token = signed()
        claims = signer.verify(token, kind=TokenKind.ACCESS, now=NOW)
        monkeypatch.setattr("adapters.crypto.tokens.has_signed", None)

        assert signer.verify(token, kind=TokenKind.ACCESS, now=NOW) == claims

    def test_a_cached_token_expires(self, signer: JwtTokenSigner) -> None:
        token = signed()
        signer.verify(token, kind=TokenKind.ACCESS, now=NOW)

        with pytest.raises(TokenExpired):
            signer.verify(token, kind=TokenKind.ACCESS, now=NOW + QUARTER_HOUR)

    def test_a_cached_token_is_refused_as_another_kind(self, signer: JwtTokenSigner) -> None:
        token = signed()
        signer.verify(token, kind=TokenKind.ACCESS, now=NOW)

        with pytest.raises(TokenInvalid):
            signer.verify(token, kind=TokenKind.PRE_AUTH, now=NOW)

    def test_a_cached_token_is_refused_once_its_key_is_no_longer_published(
        self, signer: JwtTokenSigner, ring: SigningKeyRing
    ) -> None:
        token = signed()
        signer.verify(token, kind=TokenKind.ACCESS, now=NOW)
        ring.load([NEXT])

        with pytest.raises(SigningKeyUnknown):
            signer.verify(token, kind=TokenKind.ACCESS, now=NOW)

    def test_the_claims_of_a_cached_token_are_read_only(self, signer: JwtTokenSigner) -> None:
        claims: Any = signer.verify(signed(), kind=TokenKind.ACCESS, now=NOW)

        with pytest.raises(TypeError):
            claims["sub"] = "somebody else"

    def test_a_refused_token_is_not_cached(self, signer: JwtTokenSigner) -> None:
        for _ in range(2):
            with pytest.raises(TokenInvalid):
                signer.verify(signed()[:-4] + "AAAA", kind=TokenKind.ACCESS, now=NOW)

    def test_the_number_of_cached_tokens_is_limited(
        self, signer: JwtTokenSigner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("adapters.crypto.tokens.VERIFIED_TOKENS_MAX", 3)
        tokens = [signed() for _ in range(5)]
        for token in tokens:
            signer.verify(token, kind=TokenKind.ACCESS, now=NOW)

        assert len(signer._verified_tokens) == 3
        assert signer.verify(tokens[0], kind=TokenKind.ACCESS, now=NOW)
