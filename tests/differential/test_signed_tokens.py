"""JSON Web Signatures of strangers and of our own, beside a strict second reading of RFC 7515, and joserfc."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import example, given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm, get_default_algorithms

from adapters.crypto.json_web_signatures import JsonWebSignatures
from tests.differential import jws_reader
from tests.differential.opinions import (
    Case,
    Difference,
    Reader,
    many_examples,
    mutated_text,
    require_agreement,
    require_real,
)
from tests.kept_keys import elliptic_key, rsa_key
from tests.peers import peer

SIGNATURES: Final = JsonWebSignatures()
RSA_KEY: Final = rsa_key("signed tokens")
EC_KEY: Final = elliptic_key("signed tokens")
ED_KEY: Final = ed25519.Ed25519PrivateKey.generate()
PRIVATE: Final[Mapping[str, Any]] = {"RS256": RSA_KEY, "PS256": RSA_KEY, "ES256": EC_KEY, "EdDSA": ED_KEY}


def _public(jwk: dict[str, Any], kid: str) -> dict[str, Any]:
    return {name: jwk[name] for name in ("kty", "crv", "n", "e", "x", "y") if name in jwk} | {"kid": kid}


KEYS: Final = [
    _public(RSAAlgorithm(RSAAlgorithm.SHA256).to_jwk(RSA_KEY.public_key(), as_dict=True), "rsa"),
    _public(ECAlgorithm(ECAlgorithm.SHA256).to_jwk(EC_KEY.public_key(), as_dict=True), "ec"),
    _public(OKPAlgorithm().to_jwk(ED_KEY.public_key(), as_dict=True), "ed"),
]
_ALGORITHMS: Final = get_default_algorithms()
DPOP: Final = "dpop+jwt"


def _part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def token_of(header: str, claims: str, signed_by: str = "ES256") -> str:
    """Return a token with a header and claims as they are written, signed in a way that the header may not name."""
    signed = f"{_part(header)}.{_part(claims)}"
    if signed_by == "none":
        return f"{signed}."
    if signed_by == "HS256":
        # With a public key as the secret.
        secret = json.dumps(KEYS[0]).encode()
        signature = _ALGORITHMS["HS256"].sign(signed.encode(), secret)
    else:
        signature = _ALGORITHMS[signed_by].sign(signed.encode(), PRIVATE[signed_by])
    return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


_MEMBERS: Final = st.sampled_from(
    [
        *(
            '"kid":"ec"',
            '"kid":"rsa"',
            '"kid":"ed"',
            '"kid":"other"',
            '"kid":null',
            '"kid":1',
            '"typ":"JWT"',
            '"typ":1',
        ),
        *('"crit":["exp"]', '"crit":[]', '"crit":null', '"b64":false', '"b64":true', '"b64":"false"', '"cty":"JWT"'),
        *('"crit":["b64"],"b64":false', '"jku":"https://evil.example/"', '"x5c":["AAAA"]', '"zip":"DEF"', '"x":NaN'),
        *('"alg":"none"', '"alg":"ES256"', '"alg":"HS256"', '"a":{"a":[1,2]}', '"x":"\\ud800"', '"x":1e999', '"e":""'),
    ]
)
_CLAIMS: Final = st.sampled_from(
    [
        *(
            '{"sub":"a"}',
            '{"sub":"a","sub":"b"}',
            '{"exp":NaN}',
            '{"exp":1e999}',
            '{"exp":1' + "0" * 310 + "}",
            "[]",
            "",
        ),
        *('{"a":"\\u0000"}', '{"a":"\\ud800"}', "null", '"a"', '{"sub":"a"}x', ' {"sub":"ä"} ', '\ufeff{"sub":"a"}'),
        *("[" * 500 + "]" * 500, '{"exp":-0,"a":1.50}', '{"a":1.}', '{"a":01}', "{'a':1}", '{"a":1,}', '{"a":"\t"}'),
    ]
)
_SIGNERS: Final = st.sampled_from(["RS256", "PS256", "ES256", "ES256", "EdDSA", "EdDSA", "none", "HS256"])


@st.composite
def _tokens(draw: st.DrawFn) -> str:
    signed_by = draw(_SIGNERS)
    named = draw(st.sampled_from([signed_by] * 5 + ["RS256", "none", "HS256", "ES256K", "es256"]))
    members = draw(st.lists(_MEMBERS, max_size=2))
    members.insert(draw(st.integers(0, len(members))), f'"alg":"{named}"')
    return token_of("{" + ",".join(members) + "}", draw(_CLAIMS), signed_by)


@st.composite
def _proofs(draw: st.DrawFn) -> str:
    """Draw DPoP proofs, whose header has the key."""
    signed_by = draw(st.sampled_from(["ES256", "ES256", "EdDSA", "RS256"]))
    key = {"ES256": KEYS[1], "EdDSA": KEYS[2], "RS256": KEYS[0]}[draw(st.sampled_from([signed_by] * 5 + ["ES256"]))]
    jwk = {name: value for name, value in key.items() if name != "kid"}
    jwk |= draw(st.dictionaries(st.sampled_from(["d", "alg", "use", "kid", "crv", "kty", "x"]), _ODD, max_size=1))
    written = json.dumps(jwk)
    members = [f'"alg":"{signed_by}"', f'"typ":"{DPOP}"', f'"jwk":{written}', *draw(st.lists(_MEMBERS, max_size=1))]
    return token_of("{" + ",".join(members) + "}", draw(_CLAIMS), signed_by)


_ODD: Final = st.sampled_from(["ES256", "sig", "enc", "P-256", "EC", "", None, 1, "AAAA"])
tokens: Final = _tokens() | mutated_text(_tokens())
proofs: Final = _proofs() | mutated_text(_proofs())


def read_by_us(token: str) -> Any:
    """Return the claims of a token of a stranger; None when it is refused."""
    found = SIGNATURES.verified(token, {"keys": KEYS})
    return None if found is None else _written(dict(found))


def read_again(token: str) -> Any:
    """Return the same by the second reading."""
    return _written(jws_reader.claims_of(token, KEYS))


def _written(claims: Any) -> Any:
    # NaN is not the same as itself, and True is 1.
    return None if claims is None else json.dumps(claims, sort_keys=True)


def proof_read_by_us(token: str) -> Any:
    """Return the key and the claims of a DPoP proof; None when it is refused."""
    found = SIGNATURES.self_signed(token, kind=DPOP)
    return None if found is None else _written({"thumbprint": found.key_thumbprint, "claims": dict(found.claims)})


def _texts(case: Case) -> list[bytes]:
    """Return the header and the claims of a token."""
    return [base64.urlsafe_b64decode(part + "==") for part in case.given.split(".")[:2]]


def _has_loose_json(case: Case) -> bool:
    """Return whether Python reads the JSON of a token, and a strict reader does not."""
    try:
        [jws_reader.strict_json(text) for text in _texts(case)]
    except (ValueError, RecursionError):
        return True
    return False


EC: Final = '{"alg":"ES256"}'
_LOOSE_JSON: Final = Difference(
    "Of a name that stands twice the last counts (RFC 7515, 4). Python reads NaN, a byte order mark and half of a"
    " character as well: no claim is computed with, and every text is checked where it is used.",
    lambda case: case.is_laxer and _has_loose_json(case),
    token_of(EC, '{"sub":"a","sub":"b"}'),
)
_CRIT: Final = Difference(
    "A token with crit is refused, also one whose crit names nothing: no extension is understood here.",
    lambda case: case.is_stricter and any(b'"crit"' in text for text in _texts(case)),
    token_of('{"alg":"ES256","crit":["b64"],"crit":[]}', '{"sub":"a"}'),
)
_B64: Final = Difference(
    "A b64 that is not false changes nothing, so it needs no crit to be ignored.",
    lambda case: case.is_laxer and any(b'"b64"' in text for text in _texts(case)),
    token_of('{"alg":"ES256","b64":"false"}', '{"sub":"a"}'),
)
_CURVE: Final = Difference(
    "A key has a curve if its type has one, and no other.",
    lambda case: case.is_stricter and any(re.search(rb'"RSA".*"crv"', text) for text in _texts(case)),
    None,
)
_KID: Final = Difference(
    "The kid of a token is a text (RFC 7515, 4.1.4), also where the key stands in the token.",
    lambda case: case.is_stricter and any(re.search(rb'"kid":(null|1)', text) for text in _texts(case)),
    None,
)


@many_examples
@given(token=tokens)
def test_the_claims_of_a_token_are_those_of_a_strict_reading(token: str) -> None:
    require_agreement(Case(token, read_by_us(token), read_again(token)), [_LOOSE_JSON])


@many_examples
@given(token=proofs)
def test_a_proof_of_possession_has_the_key_and_the_claims_of_a_strict_reading(token: str) -> None:
    again = _written(jws_reader.self_signed(token, DPOP))

    require_agreement(Case(token, proof_read_by_us(token), again), [_LOOSE_JSON, _KID, _CURVE])


def test_every_difference_that_is_named_is_there() -> None:
    ec_key, rsa_key = ({name: one[name] for name in one if name != "kid"} for one in (KEYS[1], KEYS[0]))
    written = '{{"alg":"{}","typ":"{}","jwk":{},"kid":{}}}'.format
    of_kid = token_of(written("ES256", DPOP, json.dumps(ec_key), "null"), '{"sub":"a"}')
    of_curve = token_of(written("RS256", DPOP, json.dumps(rsa_key | {"crv": "P-256"}), '"a"'), '{"sub":"a"}', "RS256")

    require_real([_LOOSE_JSON], lambda token: Case(token, read_by_us(token), read_again(token)))
    require_real(
        [replace(_KID, example=of_kid), replace(_CURVE, example=of_curve)],
        lambda token: Case(token, proof_read_by_us(token), _written(jws_reader.self_signed(token, DPOP))),
    )


@pytest.fixture(scope="module")
def joserfc() -> Iterator[Reader]:
    """The second library, on which Authlib is built."""
    reader = Reader(peer("authlib").program("python"), str(Path(__file__).parent / "read_jws.py"))
    yield reader
    reader.close()


@pytest.mark.long
@many_examples
@given(token=tokens)
@example(token=token_of('{"alg":"RS256","typ":1}', '{"sub":"a"}', "RS256"))
def test_the_claims_of_a_token_are_those_that_joserfc_reads(token: str, joserfc: Reader) -> None:
    case = Case(token, read_by_us(token), _written(joserfc.ask([token, KEYS])))

    require_agreement(case, [_LOOSE_JSON, _CRIT, _B64])
