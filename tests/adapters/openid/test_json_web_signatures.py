"""Tokens that clients sign: only with an asymmetric algorithm, and a key of its type."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.warnings import InsecureKeyLengthWarning

from adapters.crypto.json_web_signatures import (
    KEYS_REMEMBERED_MAX,
    KEYS_TRIED_MAX,
    MEMBER_CHARACTERS_MAX,
    RSA_BITS_MIN,
    JsonWebSignatures,
    remembered_keys,
)
from tests.kept_keys import elliptic_key, rsa_key
from tests.second_writings import second_writings

SIGNATURES = JsonWebSignatures()
CLAIMS = {"iss": "client", "n": 1}
RSA_KEY, EC_KEY = rsa_key("web signatures"), elliptic_key("web signatures")
ED_KEY = ed25519.Ed25519PrivateKey.generate()
RSA_PUBLIC: dict[str, Any] = {
    name: value
    for name, value in RSAAlgorithm(RSAAlgorithm.SHA256).to_jwk(RSA_KEY.public_key(), as_dict=True).items()
    if name in {"kty", "n", "e"}
}
EC_PUBLIC: dict[str, Any] = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(EC_KEY.public_key(), as_dict=True)
ED_PUBLIC: dict[str, Any] = OKPAlgorithm().to_jwk(ED_KEY.public_key(), as_dict=True)
KEYS = {"keys": [RSA_PUBLIC | {"kid": "rsa"}, EC_PUBLIC | {"kid": "ec"}, ED_PUBLIC | {"kid": "ed"}]}
odd_values = st.one_of(
    st.none(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2), st.just("AAAA"), st.booleans()
)


def encoded(value: object) -> str:
    """Encode a part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [(RSA_KEY, "RS256", "rsa"), (RSA_KEY, "PS256", "rsa"), (EC_KEY, "ES256", "ec"), (ED_KEY, "EdDSA", "ed")],
)
def test_a_token_is_verified_by_the_key_that_it_names_or_by_any(key: Any, algorithm: str, kid: str) -> None:
    named = jwt.encode(CLAIMS, key, algorithm, headers={"kid": kid})

    assert SIGNATURES.verified(named, KEYS) == CLAIMS
    assert SIGNATURES.verified(jwt.encode(CLAIMS, key, algorithm), KEYS) == CLAIMS
    assert SIGNATURES.named_issuer(named) == "client"
    assert SIGNATURES.verified(jwt.encode(CLAIMS, key, algorithm, headers={"kid": "other"}), KEYS) is None


@pytest.mark.parametrize("algorithm", [[], {}, ["ES256"], None, 1])
def test_a_header_whose_algorithm_is_no_text_is_refused(algorithm: object) -> None:
    token = f"{encoded({'alg': algorithm, 'typ': 'dpop+jwt', 'jwk': EC_PUBLIC})}.{encoded(CLAIMS)}.AAAA"

    assert SIGNATURES.verified(token, KEYS) is None
    assert SIGNATURES.self_signed(token, kind="dpop+jwt") is None
    assert SIGNATURES.named_issuer(token) is None


def test_a_key_with_a_long_exponent_is_refused() -> None:
    exponent = (1 << 64) + 13
    numbers = RSA_KEY.private_numbers()
    private_exponent = pow(exponent, -1, (numbers.p - 1) * (numbers.q - 1))
    public = rsa.RSAPublicNumbers(exponent, numbers.public_numbers.n)
    key = rsa.RSAPrivateNumbers(
        numbers.p,
        numbers.q,
        private_exponent,
        private_exponent % (numbers.p - 1),
        private_exponent % (numbers.q - 1),
        numbers.iqmp,
        public,
    ).private_key()
    web_key = RSAAlgorithm(RSAAlgorithm.SHA256).to_jwk(key.public_key(), as_dict=True)

    assert SIGNATURES.verified(jwt.encode(CLAIMS, key, "RS256"), {"keys": [web_key]}) is None


@pytest.mark.parametrize("kid", [{}, {"kid": "one"}])
def test_of_very_many_keys_the_first_ones_that_fit_are_tried(kid: dict[str, str]) -> None:
    token = jwt.encode(CLAIMS, EC_KEY, "ES256", headers=kid)
    right, wrong = EC_PUBLIC | kid, EC_PUBLIC | kid | {"x": "AAAA"}
    unfit = [RSA_PUBLIC | kid, EC_PUBLIC | kid | {"use": "enc"}] * KEYS_TRIED_MAX

    assert SIGNATURES.verified(token, {"keys": [*unfit, *[wrong] * (KEYS_TRIED_MAX - 1), right]}) == CLAIMS
    assert SIGNATURES.verified(token, {"keys": [*[wrong] * KEYS_TRIED_MAX, right]}) is None


def test_a_token_with_another_algorithm_or_key_is_refused() -> None:
    hmac = jwt.encode(CLAIMS, "a-secret-with-at-least-32-characters", "HS256")
    unsigned = jwt.encode(CLAIMS, "", "none")
    es384 = jwt.encode(CLAIMS, ec.generate_private_key(ec.SECP384R1()), "ES384")
    other = jwt.encode(CLAIMS, ec.generate_private_key(ec.SECP256R1()), "ES256")

    for token in (hmac, unsigned, es384, other, "", "a.b.c", "x" * 9000, "é.é.é"):
        assert SIGNATURES.verified(token, KEYS) is None


@pytest.mark.parametrize("client", ["client", "clients", "a client"])
@pytest.mark.parametrize(("key", "algorithm"), [(RSA_KEY, "RS256"), (EC_KEY, "ES256"), (ED_KEY, "EdDSA")])
def test_a_second_writing_of_a_token_is_no_token(key: Any, algorithm: str, client: str) -> None:
    public = {"RS256": RSA_PUBLIC, "ES256": EC_PUBLIC, "EdDSA": ED_PUBLIC}[algorithm]
    token = jwt.encode({"iss": client}, key, algorithm, headers={"typ": "dpop+jwt", "jwk": public})
    assert SIGNATURES.self_signed(token, kind="dpop+jwt")
    assert SIGNATURES.verified(token, KEYS)
    assert SIGNATURES.named_issuer(token) == client

    for name, altered in second_writings(token).items():
        assert SIGNATURES.self_signed(altered, kind="dpop+jwt") is None, name
        assert SIGNATURES.verified(altered, KEYS) is None, name
        assert SIGNATURES.unverified(altered) is None, name
        assert SIGNATURES.named_issuer(altered) is None, name


@pytest.mark.parametrize("change", [{"alg": "RS512"}, {"use": "enc"}, {"kty": "EC"}])
def test_a_key_is_used_for_nothing_else_than_it_says(change: dict[str, str]) -> None:
    token = jwt.encode(CLAIMS, RSA_KEY, "RS256")

    assert SIGNATURES.verified(token, {"keys": [RSA_PUBLIC | change]}) is None


def test_a_short_rsa_key_is_refused() -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS_MIN // 2)
    public: dict[str, Any] = RSAAlgorithm(RSAAlgorithm.SHA256).to_jwk(short.public_key(), as_dict=True)
    with pytest.warns(InsecureKeyLengthWarning):
        token = jwt.encode(CLAIMS, short, "RS256")

    assert SIGNATURES.verified(token, {"keys": [{name: public[name] for name in ("kty", "n", "e")}]}) is None


def test_a_critical_extension_is_refused() -> None:
    token = jwt.encode(CLAIMS, EC_KEY, "ES256", headers={"crit": ["exp"], "exp": 1})

    assert SIGNATURES.verified(token, KEYS) is None


def test_a_token_carries_its_own_key() -> None:
    token = jwt.encode(CLAIMS, EC_KEY, "ES256", headers={"typ": "dpop+jwt", "jwk": EC_PUBLIC})
    found = SIGNATURES.self_signed(token, kind="dpop+jwt")

    assert found is not None
    assert found.claims == CLAIMS
    assert len(found.key_thumbprint) == 43
    assert SIGNATURES.self_signed(token, kind="other+jwt") is None


@settings(max_examples=200, deadline=None)
@given(
    kty=st.sampled_from(["RSA", "EC", "OKP", "oct"]),
    algorithm=st.sampled_from(["RS256", "PS256", "ES256", "EdDSA"]),
    members=st.dictionaries(st.sampled_from(["n", "e", "x", "y", "crv", "alg", "use", "kid"]), odd_values),
    payload=odd_values,
)
def test_no_key_and_no_token_of_a_stranger_is_an_error(
    kty: str, algorithm: str, members: dict[str, Any], payload: Any
) -> None:
    key = {"kty": kty, **members}
    token = f"{encoded({'alg': algorithm, 'typ': 'dpop+jwt', 'jwk': key})}.{encoded(payload)}.AAAA"

    assert SIGNATURES.self_signed(token, kind="dpop+jwt") is None
    assert SIGNATURES.verified(token, {"keys": [key]}) is None
    SIGNATURES.named_issuer(token)


def test_of_a_set_of_another_party_the_first_usable_keys_are_remembered_with_what_is_read_of_them() -> None:
    usable = EC_PUBLIC | {"kid": "ec"}
    odd = [None, 1, "key", [], {"kid": 1}, {"n": "A" * (MEMBER_CHARACTERS_MAX + 1)}, {"x": [[]]}]

    assert remembered_keys([*odd, usable | {"x5c": ["A" * 100_000], "more": [[[]]]}]) == [usable]
    assert remembered_keys([usable] * (KEYS_REMEMBERED_MAX + 1)) == [usable] * KEYS_REMEMBERED_MAX
    assert remembered_keys({"keys": []}) == []
