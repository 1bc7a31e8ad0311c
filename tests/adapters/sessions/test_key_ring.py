"""The key ring and its key pairs: every published key verifies, one signs, and rotated keys still verify tokens."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from adapters.crypto.key_pairs import KEY_BITS, make_key_pair, parse_private, parse_public, thumbprint
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from core.errors import ServiceUnavailable
from core.sessions.signing_keys import RING_AGE_MAX, KeyState, SigningKey
from core.sessions.tokens import TokenKind
from tests.shown_text import shows
from tests.signing_keys import signing_key

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
QUARTER_HOUR = timedelta(minutes=15)
ISSUER = "https://id.example.com"
CLAIMS = {"sub": "0191d3c1-0000-7000-8000-000000000001", "aud": "client-1"}

ACTIVE, NEXT, RETIRED = signing_key(KeyState.ACTIVE), signing_key(KeyState.NEXT), signing_key(KeyState.RETIRED)


def signer_with(*keys: SigningKey) -> JwtTokenSigner:
    ring = SigningKeyRing()
    ring.load(keys)
    return JwtTokenSigner(ring, issuer=ISSUER, randomness=SystemRandomness())


class Seconds:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_published_keys_are_the_public_halves_of_the_active_next_and_retired_keys() -> None:
    keys = signer_with(RETIRED, NEXT, ACTIVE).jwks()

    assert [key["kid"] for key in keys] == [ACTIVE.kid, NEXT.kid, RETIRED.kid]
    assert all(set(key) == {"kty", "use", "alg", "kid", "n", "e"} for key in keys)


def test_changing_the_returned_list_does_not_change_the_published_keys() -> None:
    signer = signer_with(ACTIVE)

    signer.jwks()[0]["kid"] = "changed"

    assert signer.jwks()[0]["kid"] == ACTIVE.kid


def test_tokens_of_every_published_key_are_accepted() -> None:
    signer = signer_with(ACTIVE, NEXT, RETIRED)

    tokens = [
        signer_with(replace(key, state=KeyState.ACTIVE)).sign(
            CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW
        )
        for key in (ACTIVE, NEXT, RETIRED)
    ]

    assert all(signer.verify(token, kind=TokenKind.ACCESS, now=NOW) for token in tokens)


def test_a_rotation_changes_the_signing_key_and_keeps_earlier_tokens_valid() -> None:
    ring = SigningKeyRing()
    signer = JwtTokenSigner(ring, issuer=ISSUER, randomness=SystemRandomness())
    ring.load([ACTIVE, NEXT])
    earlier_token = signer.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW)

    ring.load([ACTIVE.retired(published_until=NOW + timedelta(hours=1)), NEXT.activated()])
    later_token = signer.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW)

    assert jwt.get_unverified_header(later_token)["kid"] == NEXT.kid
    assert signer.verify(earlier_token, kind=TokenKind.ACCESS, now=NOW)
    assert signer.verify(later_token, kind=TokenKind.ACCESS, now=NOW)


def test_a_key_that_is_no_longer_published_is_removed() -> None:
    ring = SigningKeyRing()
    ring.load([ACTIVE, RETIRED])

    ring.load([ACTIVE])

    assert ring.public_key(RETIRED.kid) is None
    assert [key["kid"] for key in ring.jwks()] == [ACTIVE.kid]


def test_a_key_is_parsed_once_however_often_it_is_loaded() -> None:
    ring = SigningKeyRing()
    ring.load([ACTIVE, NEXT])
    public, (_, private) = ring.public_key(NEXT.kid), ring.signing_key()

    ring.load([NEXT, ACTIVE, RETIRED])

    assert ring.public_key(NEXT.kid) is public
    assert ring.signing_key()[1] is private


def test_nothing_is_signed_before_there_are_keys() -> None:
    signer = JwtTokenSigner(SigningKeyRing(), issuer=ISSUER, randomness=SystemRandomness())

    with pytest.raises(ServiceUnavailable):
        signer.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW)
    assert signer.jwks() == []


def test_nothing_is_signed_without_an_active_key() -> None:
    ring = SigningKeyRing()
    ring.load([ACTIVE])

    ring.load([NEXT])

    with pytest.raises(ServiceUnavailable):
        ring.signing_key()


def test_a_ring_that_is_too_old_verifies_but_does_not_sign() -> None:
    seconds = Seconds()
    ring = SigningKeyRing(seconds)
    ring.load([ACTIVE])

    seconds.now += RING_AGE_MAX.total_seconds()
    signs_at_the_limit = ring.signing_key()[0]
    seconds.now += 1

    assert signs_at_the_limit == ACTIVE.kid
    assert ring.public_key(ACTIVE.kid)
    with pytest.raises(ServiceUnavailable):
        ring.signing_key()
    ring.load([ACTIVE])
    assert ring.signing_key()[0] == ACTIVE.kid


def test_a_key_is_named_by_its_thumbprint() -> None:
    # The example of RFC 7638, 3.1.
    modulus = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhM"
        "stn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5"
        "hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    number = int.from_bytes(base64.urlsafe_b64decode(modulus + "=="), "big")

    assert thumbprint(rsa.RSAPublicNumbers(65537, number).public_key()) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_a_new_pair_has_matching_halves_and_the_thumbprint_of_its_public_half() -> None:
    pair = make_key_pair()

    public = parse_public(pair.public_pem)

    assert parse_private(pair.private_pem).public_key() == public
    assert public.key_size == KEY_BITS == 2048
    assert pair.kid == thumbprint(public)
    assert pair.kid != make_key_pair().kid
    assert not shows(repr(pair), "PRIVATE")
