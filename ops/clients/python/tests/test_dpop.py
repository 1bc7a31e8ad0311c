"""A token that is bound to a key needs a proof by that key for this request, once."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from typing import Any

import jwt
import pytest
from drivers import Driver
from issuer import CLIENT_ID, Issuer, Key
from second_writings import second_writings

from gatehouse_client import MemorySeen, Proof, ProofRefused, TokenRefused

URL = "https://api.shop.example/things"


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def thumbprint(key: Key) -> str:
    parts = {name: key.jwk[name] for name in ("crv", "kty", "x", "y")}
    return encoded(hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).digest())


def proof(key: Key, issuer: Issuer, token: str, *, header: dict[str, Any] | None = None, **changes: object) -> str:
    claims = {
        "htm": "GET",
        "htu": URL,
        "iat": int(issuer.clock()),
        "jti": uuid.uuid4().hex,
        "ath": encoded(hashlib.sha256(token.encode()).digest()),
    } | changes
    jwk = {name: value for name, value in key.jwk.items() if name not in {"kid", "use"}}
    return jwt.encode(
        {name: value for name, value in claims.items() if value is not None},
        key.private,
        "ES256",
        headers={"typ": "dpop+jwt", "jwk": jwk} | (header or {}),
    )


def sent(text: str, *, method: str = "GET", url: str = URL) -> Proof:
    return Proof(header=text, method=method, url=url)


def test_a_bound_token_is_valid_with_a_proof_and_each_proof_once(driver: Driver, issuer: Issuer) -> None:
    made = driver.make("TokenVerifier", issuer.url, audience=CLIENT_ID, clock=issuer.clock)
    key = Key("EC")
    token = issuer.token(cnf={"jkt": thumbprint(key)})
    text = proof(key, issuer, token)

    assert driver.call(made.verify, token, dpop=sent(text, url=f"{URL}?page=2")).subject == "ann"
    with pytest.raises(ProofRefused, match="used before"):
        driver.call(made.verify, token, dpop=sent(text))
    with pytest.raises(ProofRefused, match="without a proof"):
        driver.call(made.verify, token)
    with pytest.raises(TokenRefused, match="bound to no key"):
        driver.call(made.verify, issuer.token(), dpop=sent(proof(key, issuer, issuer.token())))
    with pytest.raises(TokenRefused, match="something else"):
        driver.call(made.verify, issuer.token(cnf={"x5t#S256": "x"}), dpop=sent(text))


def test_a_proof_for_anything_else_is_refused(blocking: Driver, issuer: Issuer) -> None:
    made = blocking.make("TokenVerifier", issuer.url, audience=CLIENT_ID, clock=issuer.clock)
    key, other = Key("EC"), Key("EC", number=1)
    token = issuer.token(cnf={"jkt": thumbprint(key)})
    at = int(issuer.clock())
    private = json.loads(json.dumps(key.jwk)) | {"d": "AA"}

    for text in (
        proof(other, issuer, token),
        proof(other, issuer, token, header={"jwk": key.jwk}),
        proof(key, issuer, token, header={"typ": "JWT"}),
        proof(key, issuer, token, header={"jwk": private}),
        proof(key, issuer, token, header={"jwk": None}),
        proof(key, issuer, token, htm="POST"),
        proof(key, issuer, token, htu="https://api.shop.example/other"),
        proof(key, issuer, token, htu="http://api.shop.example/things"),
        proof(key, issuer, token, htu=7),
        proof(key, issuer, token, ath=None),
        proof(key, issuer, issuer.token()),
        proof(key, issuer, token, iat=at - 71),
        proof(key, issuer, token, iat=at + 11),
        proof(key, issuer, token, iat=None),
        proof(key, issuer, token, jti=None),
        proof(key, issuer, token, jti="x" * 300),
        token,
        "",
    ):
        with pytest.raises(ProofRefused):
            made.verify(token, dpop=sent(text))


def test_a_proof_is_taken_as_it_was_written_alone(blocking: Driver, issuer: Issuer) -> None:
    made = blocking.make("TokenVerifier", issuer.url, audience=CLIENT_ID, clock=issuer.clock)
    key = Key("EC")
    token = issuer.token(cnf={"jkt": thumbprint(key)})
    text = proof(key, issuer, token)

    for other in second_writings(text).values():
        with pytest.raises(ProofRefused, match="no signed JWT"):
            made.verify(token, dpop=sent(other))
    with pytest.raises(TokenRefused, match="no signed JWT"):
        made.verify(f"{token}==", dpop=sent(text))
    # What was refused has used nothing.
    assert made.verify(token, dpop=sent(text)).subject == "ann"


def test_the_store_of_used_ids_is_bounded_and_forgets_what_has_expired() -> None:
    seen = MemorySeen(seen_max=2)

    assert seen.add("a", until=10, at=0)
    assert seen.add("b", until=20, at=0)
    assert not seen.add("c", until=20, at=9)
    assert seen.add("c", until=20, at=10)
    assert not seen.add("b", until=30, at=10)
    forgetful = MemorySeen(seen_max=2, forgets_oldest=True)
    assert [forgetful.add(one, until=10, at=0) for one in ("a", "b", "c", "b", "a")] == [True, True, True, False, True]
