"""Signed tokens: this installation's are accepted until they expire, and every other text is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import RSAAlgorithm

from adapters.crypto.key_pairs import json_web_key, parse_private
from adapters.crypto.tokens import TOKEN_CHARACTERS_MAX
from core.errors import TokenExpired, TokenInvalid
from core.sessions.signing_keys import KeyState
from core.sessions.tokens import SigningKeyUnknown, TokenKind
from tests.adapters.sessions.signing import ACTIVE, CLAIMS, ISSUER, NEXT, NOW, QUARTER_HOUR, SIGNER, signed, signer_with
from tests.kept_keys import rsa_key
from tests.second_writings import ALPHABET, second_writings
from tests.signing_keys import key_pair, signing_key

PRIVATE = parse_private(ACTIVE.private_pem)


def verify(token: str, *, kind: TokenKind = TokenKind.ACCESS, now: datetime = NOW) -> Mapping[str, Any]:
    return SIGNER.verify(token, kind=kind, now=now)


def base64url(value: bytes | str | object) -> str:
    if not isinstance(value, bytes):
        value = (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def forged(header: object, payload: object, key: rsa.RSAPrivateKey = PRIVATE) -> str:
    """Return a handmade token with a valid signature, which only the holder of the key can make."""
    signing_input = f"{base64url(header)}.{base64url(payload)}"
    signature = RSAAlgorithm(RSAAlgorithm.SHA256).sign(signing_input.encode(), key)
    return f"{signing_input}.{base64url(signature)}"


def header(**changes: object) -> dict[str, object]:
    return {"alg": "RS256", "kid": ACTIVE.kid, "typ": "at+jwt", **changes}


def payload(**changes: object) -> dict[str, object]:
    full = {
        **CLAIMS,
        "iss": ISSUER,
        "jti": "1",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 900,
        **changes,
    }
    return {name: value for name, value in full.items() if value is not None}


def test_a_signed_token_contains_its_claims_issuer_id_and_lifetime() -> None:
    claims = verify(signed())

    assert claims == {
        **CLAIMS,
        "iss": ISSUER,
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 900,
        "jti": claims["jti"],
    }


def test_every_token_has_an_id_of_its_own() -> None:
    assert len({verify(signed())["jti"] for _ in range(20)}) == 20


@pytest.mark.parametrize("kind", TokenKind)
def test_the_header_names_algorithm_key_and_kind_and_nothing_else(kind: TokenKind) -> None:
    token = signed(kind=kind)

    assert jwt.get_unverified_header(token) == {"alg": "RS256", "kid": ACTIVE.kid, "typ": kind.value}


def test_an_access_token_is_of_the_registered_type() -> None:
    assert jwt.get_unverified_header(signed())["typ"] == "at+jwt"


def test_a_relying_party_can_check_a_token_with_the_published_keys_alone() -> None:
    published = jwt.PyJWKSet.from_dict({"keys": SIGNER.jwks()})
    token = SIGNER.sign(CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=datetime.now(UTC))

    key = published[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["RS256"], audience="client-1", issuer=ISSUER)

    assert claims["sub"] == CLAIMS["sub"]


@pytest.mark.parametrize("claim", ["iss", "iat", "exp", "jti"])
def test_a_claim_of_the_signer_cannot_be_given(claim: str) -> None:
    with pytest.raises(AssertionError):
        signed({**CLAIMS, claim: "x"})


@pytest.mark.parametrize("claim", ["sub", "aud"])
def test_a_token_without_a_subject_or_audience_is_not_signed(claim: str) -> None:
    with pytest.raises(AssertionError):
        signed({**CLAIMS, claim: ""})


def test_a_token_is_valid_until_the_moment_it_expires_and_not_at_it() -> None:
    token = signed()

    assert verify(token, now=NOW + QUARTER_HOUR - timedelta(microseconds=1))
    with pytest.raises(TokenExpired):
        verify(token, now=NOW + QUARTER_HOUR)
    with pytest.raises(TokenExpired):
        verify(token, now=NOW + timedelta(days=1))


@pytest.mark.parametrize("kind", TokenKind)
@pytest.mark.parametrize("expected", TokenKind)
def test_a_token_of_one_kind_is_refused_where_another_is_expected(kind: TokenKind, expected: TokenKind) -> None:
    token = signed(kind=kind)

    if kind is expected:
        assert verify(token, kind=expected)
    else:
        with pytest.raises(TokenInvalid):
            verify(token, kind=expected)


def test_a_token_of_another_installation_is_refused() -> None:
    token = signer_with(ACTIVE, issuer="https://id.example.org").sign(
        CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW
    )

    with pytest.raises(TokenInvalid):
        verify(token)


def test_a_handmade_token_with_the_same_claims_is_accepted() -> None:
    assert verify(forged(header(), payload()))


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param(payload(exp=None), id="no exp"),
        pytest.param(payload(iat=None), id="no iat"),
        pytest.param(payload(sub=None), id="no sub"),
        pytest.param(payload(aud=None), id="no aud"),
        pytest.param(payload(jti=None), id="no jti"),
        pytest.param(payload(iss=None), id="no iss"),
        pytest.param(payload(sub=""), id="empty sub"),
        pytest.param(payload(aud=""), id="empty aud"),
        pytest.param(payload(aud=["client-1"]), id="a list of audiences"),
        pytest.param(payload(aud={"client-1": True}), id="an object of audiences"),
        pytest.param(payload(sub=7), id="a number as sub"),
        pytest.param(payload(iss=[ISSUER]), id="a list of issuers"),
        pytest.param(payload(iss=ISSUER + "/"), id="almost the issuer"),
        pytest.param(payload(exp="9999999999"), id="a text as exp"),
        pytest.param(payload(exp=True), id="true as exp"),
        pytest.param(payload(exp=1e300), id="a fraction as exp"),
        pytest.param(json.dumps(payload(exp=0)).replace('"exp": 0', '"exp": Infinity'), id="infinity as exp"),
        pytest.param(json.dumps(payload(exp=0)).replace('"exp": 0', '"exp": NaN'), id="no number as exp"),
        pytest.param([payload()], id="a list of claims"),
        pytest.param("null", id="null"),
        pytest.param("", id="nothing"),
        pytest.param("{", id="half an object"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param("[" * 5000, id="deep lists"),
        pytest.param('{"a":' * 1000, id="deep objects"),
        pytest.param('{"exp":' + "9" * 5000 + "}", id="a huge number"),
    ],
)
def test_missing_and_malformed_claims_are_refused(claims: object) -> None:
    with pytest.raises(TokenInvalid):
        verify(forged(header(), claims))


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(header(alg="none"), id="alg none"),
        pytest.param(header(alg="None"), id="alg None"),
        pytest.param(header(alg="NONE"), id="alg NONE"),
        pytest.param(header(alg="HS256"), id="alg HS256"),
        pytest.param(header(alg="RS512"), id="alg RS512"),
        pytest.param(header(alg="PS256"), id="alg PS256"),
        pytest.param(header(alg=None), id="alg null"),
        pytest.param(header(alg=["RS256"]), id="a list of algs"),
        pytest.param({"kid": ACTIVE.kid, "typ": "at+jwt"}, id="no alg"),
        pytest.param({"alg": "RS256", "typ": "at+jwt"}, id="no kid"),
        pytest.param({"alg": "RS256", "kid": ACTIVE.kid}, id="no typ"),
        pytest.param(header(kid="../../../../dev/null"), id="kid is a path"),
        pytest.param(header(kid="x' OR kid IS NOT NULL --"), id="kid is SQL"),
        pytest.param(header(kid=""), id="kid is empty"),
        pytest.param(header(kid=ACTIVE.kid + "\x00"), id="kid and a NUL"),
        pytest.param(header(kid="x" * 5000), id="kid is long"),
        pytest.param(header(kid=7), id="kid is a number"),
        pytest.param(header(kid=None), id="kid is null"),
        pytest.param(header(kid=[ACTIVE.kid]), id="kid is a list"),
        pytest.param(header(kid={"kid": ACTIVE.kid}), id="kid is an object"),
        pytest.param(header(kid="\ud800"), id="kid is half a character"),
        pytest.param(header(kid=NEXT.kid), id="kid of another key"),
        pytest.param(header(typ="JWT"), id="typ JWT"),
        pytest.param(header(typ="AT+JWT"), id="typ in capitals"),
        pytest.param(header(typ=["at+jwt"]), id="a list of typs"),
        pytest.param(header(crit=["exp"]), id="crit"),
        pytest.param(header(crit=[]), id="empty crit"),
        pytest.param(header(b64=False), id="b64 false"),
        pytest.param(header(b64=False, crit=["b64"]), id="b64 false and critical"),
        pytest.param(header(jwk=json_web_key("x", PRIVATE.public_key())), id="a key of its own"),
        pytest.param(header(jku="https://evil.example.com/jwks.json"), id="keys from elsewhere"),
        pytest.param(header(x5u="https://evil.example.com/chain.pem"), id="a chain from elsewhere"),
        pytest.param(header(zip="DEF"), id="compressed"),
        pytest.param(header(cty="JWT"), id="nested"),
        pytest.param([], id="a list"),
        pytest.param("null", id="null"),
        pytest.param("", id="nothing"),
        pytest.param('"text"', id="a text"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param("[" * 3000, id="deep lists"),
        pytest.param('{"a":' * 500, id="deep objects"),
        pytest.param('{"kid":' + "9" * 4500 + "}", id="a huge number"),
    ],
)
def test_a_header_that_is_not_exactly_ours_is_refused(head: object) -> None:
    with pytest.raises(TokenInvalid):
        verify(forged(head, payload()))


def test_a_token_without_a_signature_is_refused() -> None:
    for algorithm in ("none", "None", "NONE", "RS256"):
        unsigned = f"{base64url(header(alg=algorithm))}.{base64url(payload())}"
        for token in (unsigned, f"{unsigned}."):
            with pytest.raises(TokenInvalid):
                verify(token)


@pytest.mark.parametrize("alg", ["HS256", "RS256"])
@pytest.mark.parametrize("secret", [ACTIVE.public_pem, ACTIVE.public_pem.strip()])
def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_refused(alg: str, secret: str) -> None:
    signing_input = f"{base64url(header(alg=alg))}.{base64url(payload())}"
    signature = hmac.new(secret.encode(), signing_input.encode(), hashlib.sha256).digest()

    with pytest.raises(TokenInvalid):
        verify(f"{signing_input}.{base64url(signature)}")


def test_a_token_signed_with_a_foreign_key_is_refused() -> None:
    foreign = rsa_key("stranger")

    with pytest.raises(TokenInvalid):
        verify(forged(header(), payload(), foreign))


def test_other_claims_under_a_valid_signature_are_refused() -> None:
    head, _, signature = signed().split(".")

    with pytest.raises(TokenInvalid):
        verify(f"{head}.{base64url(payload(is_platform_owner=True))}.{signature}")


TOKEN = signed()


@given(position=st.integers(0, len(TOKEN) - 1), character=st.sampled_from(ALPHABET + "+/=. \n\x00é"))
def test_a_token_with_any_character_changed_is_refused(position: int, character: str) -> None:
    altered = TOKEN[:position] + character + TOKEN[position + 1 :]

    if altered == TOKEN:
        assert verify(altered)
    else:
        with pytest.raises(TokenInvalid):
            verify(altered)


def test_a_token_with_another_last_character_is_refused() -> None:
    # The last character of a signature has four unused bits, so a lenient parser accepts sixteen characters for one.
    for character in ALPHABET.replace(TOKEN[-1], ""):
        with pytest.raises(TokenInvalid):
            verify(TOKEN[:-1] + character)


@pytest.mark.parametrize(
    "altered",
    [
        pytest.param(TOKEN + "=", id="padded"),
        pytest.param(TOKEN + "==", id="padded fully"),
        pytest.param(TOKEN + "\n", id="a new line"),
        pytest.param(" " + TOKEN, id="a blank"),
        pytest.param(TOKEN + ".", id="another part"),
        pytest.param("." + TOKEN, id="a part before"),
        pytest.param(TOKEN.rpartition(".")[0], id="two parts"),
        pytest.param(TOKEN.rpartition(".")[0] + ".", id="an empty signature"),
        pytest.param(TOKEN[:-4], id="cut"),
        pytest.param(TOKEN + TOKEN, id="twice"),
        pytest.param("", id="empty"),
        pytest.param("..", id="empty parts"),
        pytest.param("a.b.c", id="letters"),
        pytest.param("\ud800.\udfff.\ud800", id="half characters"),
        pytest.param(TOKEN + "\ud800", id="half a character behind it"),
        pytest.param(TOKEN[0] + "\u200b" + TOKEN[1:], id="an invisible character"),
    ],
)
def test_another_spelling_of_a_token_is_refused(altered: str) -> None:
    with pytest.raises(TokenInvalid):
        verify(altered)


def test_a_second_writing_of_a_verified_token_is_refused() -> None:
    for length in range(3):
        token = signed({**CLAIMS, "email": "a" * length})
        verify(token)

        assert [name for name, altered in second_writings(token).items() if is_taken(altered)] == []


def is_taken(token: str) -> bool:
    try:
        verify(token)
    except TokenInvalid:
        return False
    return True


@given(st.text(st.characters(), max_size=300))
def test_any_text_is_refused_without_another_error(text: str) -> None:
    with pytest.raises(TokenInvalid):
        verify(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.just(ACTIVE.kid),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(head=json_values | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), json_values))
def test_any_header_is_refused_without_another_error(head: object) -> None:
    with pytest.raises(TokenInvalid):
        verify(f"{base64url(head)}.{base64url(payload())}.{base64url(b'x')}")


def test_a_token_over_the_maximum_length_is_refused() -> None:
    fits = signed({**CLAIMS, "padding": "x" * 4000})
    too_long = signed({**CLAIMS, "padding": "x" * TOKEN_CHARACTERS_MAX})

    assert len(fits) <= TOKEN_CHARACTERS_MAX < len(too_long)
    assert verify(fits)
    with pytest.raises(TokenInvalid):
        verify(too_long)


def test_a_token_of_an_unknown_key_raises_signing_key_unknown() -> None:
    token = signer_with(signing_key(KeyState.ACTIVE, key_pair(3))).sign(
        CLAIMS, kind=TokenKind.ACCESS, lifetime=QUARTER_HOUR, now=NOW
    )

    with pytest.raises(SigningKeyUnknown):
        verify(token)


def test_a_malformed_header_with_an_unknown_key_raises_no_signing_key_unknown() -> None:
    with pytest.raises(TokenInvalid) as refusal:
        verify(forged(header(kid="unknown", alg="none"), payload()))

    assert not isinstance(refusal.value, SigningKeyUnknown)
