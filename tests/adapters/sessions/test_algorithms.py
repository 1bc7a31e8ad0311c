"""Two kinds of keys sign tokens, and none verifies what an algorithm of the other kind has made of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from adapters.crypto.key_pairs import json_web_key, parse_json_web_key, parse_public, parse_signing, thumbprint
from adapters.crypto.tokens import KeptKeys
from core.errors import ServiceUnavailable, TokenInvalid
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyState, SigningKey
from core.sessions.tokens import TokenKind
from tests.adapters.sessions.signing import ACTIVE, CLAIMS, ISSUER, NEXT, NOW, QUARTER_HOUR, signer_with
from tests.second_writings import second_writings
from tests.shown_text import shows
from tests.signing_keys import elliptic_key

ELLIPTIC = elliptic_key(KeyState.ACTIVE)
OTHER_ELLIPTIC = elliptic_key(KeyState.NEXT)
SIGNER = signer_with(ACTIVE, NEXT, ELLIPTIC, OTHER_ELLIPTIC)
PAYLOAD = {**CLAIMS, "iss": ISSUER, "jti": "1", "iat": int(NOW.timestamp()), "exp": int(NOW.timestamp()) + 900}


def signed(algorithm: SignatureAlgorithm) -> str:
    return SIGNER.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW, algorithm=algorithm)


def forged(key: SigningKey, algorithm: str, kid: str) -> str:
    """Return a token that the key signs by its own algorithm, and whose header says something else."""
    own = jwt.get_algorithm_by_name(key.algorithm.value)
    header: dict[str, Any] = {"alg": algorithm, "kid": kid, "typ": TokenKind.ACCESS.value}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (header, PAYLOAD))
    return f"{text}.{base64url(own.sign(text.encode(), parse_signing(key)))}"


def base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", ACTIVE), ("ES256", ELLIPTIC)])
def test_a_token_is_signed_by_the_active_key_of_the_kind_that_is_asked_for(algorithm: str, key: SigningKey) -> None:
    token = signed(SignatureAlgorithm(algorithm))

    assert jwt.get_unverified_header(token) == {"alg": algorithm, "kid": key.kid, "typ": "at+jwt"}
    assert SIGNER.verify(token, kind=TokenKind.ACCESS, now=NOW)["sub"] == CLAIMS["sub"]


def test_a_relying_party_checks_an_elliptic_signature_with_the_published_keys_alone() -> None:
    published = jwt.PyJWKSet.from_dict({"keys": SIGNER.jwks()})
    token = signed(SignatureAlgorithm.ES256)

    key = published[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["ES256"], audience="client-1", options={"verify_exp": False})

    assert claims["sub"] == CLAIMS["sub"]
    assert [published_key["alg"] for published_key in SIGNER.jwks()] == ["RS256", "RS256", "ES256", "ES256"]


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        pytest.param(ACTIVE, "ES256", ACTIVE.kid, id="an RSA key, said to be elliptic"),
        pytest.param(ELLIPTIC, "RS256", ELLIPTIC.kid, id="an elliptic key, said to be RSA"),
        pytest.param(ACTIVE, "RS256", ELLIPTIC.kid, id="an RSA signature under the id of an elliptic key"),
        pytest.param(ELLIPTIC, "ES256", ACTIVE.kid, id="an elliptic signature under the id of an RSA key"),
        pytest.param(ACTIVE, "PS256", ACTIVE.kid, id="another algorithm of RSA keys"),
        pytest.param(ELLIPTIC, "ES384", ELLIPTIC.kid, id="another algorithm of elliptic keys"),
        pytest.param(OTHER_ELLIPTIC, "ES256", ELLIPTIC.kid, id="another key of the same kind"),
        pytest.param(ELLIPTIC, "none", ELLIPTIC.kid, id="no algorithm"),
        pytest.param(ELLIPTIC, "es256", ELLIPTIC.kid, id="a name in lower case"),
    ],
)
def test_a_header_that_does_not_fit_its_key_is_refused(key: SigningKey, algorithm: str, kid: str) -> None:
    with pytest.raises(TokenInvalid):
        SIGNER.verify(forged(key, algorithm, kid), kind=TokenKind.ACCESS, now=NOW)


@pytest.mark.parametrize("key", [ACTIVE, ELLIPTIC])
def test_a_public_key_is_no_secret_of_an_hmac(key: SigningKey) -> None:
    header = {"alg": "HS256", "kid": key.kid, "typ": "at+jwt"}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (header, PAYLOAD))
    mac = hmac.digest(key.public_pem.encode(), text.encode(), hashlib.sha256)

    with pytest.raises(TokenInvalid):
        SIGNER.verify(f"{text}.{base64url(mac)}", kind=TokenKind.ACCESS, now=NOW)


def test_nothing_is_signed_by_a_kind_of_which_there_is_no_key() -> None:
    signer = signer_with(ACTIVE)

    with pytest.raises(ServiceUnavailable):
        signer.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW, algorithm=SignatureAlgorithm.ES256)


def test_kept_keys_of_both_kinds_verify_signatures() -> None:
    kept = KeptKeys(json.dumps({"keys": SIGNER.jwks()}).encode())

    for algorithm in SignatureAlgorithm:
        kept.verify_signature(signed(algorithm), kind=TokenKind.ACCESS)
    with pytest.raises(TokenInvalid):
        kept.verify_signature(forged(ELLIPTIC, "RS256", ELLIPTIC.kid), kind=TokenKind.ACCESS)


def test_kept_keys_refuse_a_second_writing_of_a_signed_text() -> None:
    kept = KeptKeys(json.dumps({"keys": SIGNER.jwks()}).encode())

    for algorithm in SignatureAlgorithm:
        for altered in second_writings(signed(algorithm)).values():
            with pytest.raises(TokenInvalid):
                kept.verify_signature(altered, kind=TokenKind.ACCESS)


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "OKP", "crv": "Ed25519", "x": "AA", "kid": "1"},
        {"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA", "kid": "1"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "1"},
        {"kty": "EC", "kid": "1"},
    ],
)
def test_kept_keys_of_another_kind_are_refused(key: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        KeptKeys(json.dumps({"keys": [key]}).encode())


def test_an_elliptic_key_is_named_by_its_thumbprint_and_read_back_from_its_public_form() -> None:
    public = parse_public(ELLIPTIC.public_pem)

    # The coordinates are padded to their full length (RFC 7518, 6.2.1.2), also when they begin with a zero.
    short = ec.EllipticCurvePrivateNumbers(
        1, ec.derive_private_key(1, ec.SECP256R1()).public_key().public_numbers()
    ).private_key()
    described = json_web_key("1", short.public_key())

    assert ELLIPTIC.kid == thumbprint(public)
    assert parse_json_web_key(json_web_key(ELLIPTIC.kid, public)) == public
    assert {len(described["x"]), len(described["y"])} == {43}
    assert not shows(repr(Secret(ELLIPTIC.private_pem.reveal())), "PRIVATE")
