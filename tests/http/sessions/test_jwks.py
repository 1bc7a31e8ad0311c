"""The published signing keys: the active one, the next one, and retired ones while their tokens are valid."""

from __future__ import annotations

from datetime import timedelta

import jwt
import pytest

from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyPair
from core.sessions.tokens import TokenKind
from entrypoints.installation import Installation
from tests.application import Client, elliptic_key_pairs


async def test_the_active_key_and_the_next_one_of_each_kind_are_published(
    client: Client, key_pairs: tuple[KeyPair, KeyPair]
) -> None:
    answer = await client.get("/.well-known/jwks.json")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert [(key["kid"], key["kty"], key["alg"]) for key in answer.json["keys"]] == [
        *[(pair.kid, "RSA", "RS256") for pair in key_pairs],
        *[(pair.kid, "EC", "ES256") for pair in elliptic_key_pairs()],
    ]


async def test_no_private_key_material_is_published(client: Client) -> None:
    answer = await client.get("/.well-known/jwks.json")

    for key in answer.json["keys"]:
        assert not {"d", "p", "q", "dp", "dq", "qi"} & set(key)


async def test_clients_may_cache_the_keys_for_five_minutes(client: Client) -> None:
    answer = await client.get("/.well-known/jwks.json")

    assert answer.headers["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize("algorithm", SignatureAlgorithm)
async def test_the_published_keys_verify_a_token(
    client: Client, installation: Installation, algorithm: SignatureAlgorithm
) -> None:
    claims = {"sub": "a user", "aud": "a service"}
    token = installation.tokens.sign(
        claims, kind=TokenKind.ACCESS, lifetime=timedelta(minutes=5), now=installation.clock(), algorithm=algorithm
    )

    keys = jwt.PyJWKSet.from_dict((await client.get("/.well-known/jwks.json")).json)
    key = keys[jwt.get_unverified_header(token)["kid"]]
    verified = jwt.decode(token, key, algorithms=[algorithm], audience="a service", options={"verify_exp": False})

    assert verified["sub"] == "a user"
