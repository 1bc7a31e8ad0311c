"""Tokens that are bound to a key work with a new proof of that key for each request, and in no other way."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import jwt
import pytest

from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from core.rate_limits import RateLimit
from tests.application import Answer, serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.world.relying_party import REDIRECT_URI, ProofKey, RelyingParty
from tests.world.signing_in import claims_of
from tests.world.world import World


@pytest.fixture
def key() -> ProofKey:
    """A key of the client."""
    return ProofKey()


async def nonce_for(app: RelyingParty, key: ProofKey) -> str:
    """Return a nonce from the server, which refuses a proof without one."""
    proof = key.proof("POST", "/auth/token", now=app.world.clock)
    answer = await app.token("refresh_token", {"DPoP": proof}, refresh_token="x")
    assert (answer.status, answer.json["error"]) == (400, "use_dpop_nonce")
    return answer.headers["DPoP-Nonce"]


async def bound_tokens(app: RelyingParty, key: ProofKey) -> tuple[dict[str, Any], str]:
    """Return tokens that are bound to the key, and a nonce."""
    nonce = await nonce_for(app, key)
    proof = key.proof("POST", "/auth/token", now=app.world.clock, nonce=nonce)
    answer = await app.redeem(await app.code(), {"DPoP": proof})
    assert answer.status == 200, answer.text
    return answer.json, nonce


async def user_info(world: World, token: str, proof: str | None, scheme: str = "DPoP") -> Answer:
    """Ask who the user is, with a proof."""
    headers = {"Authorization": f"{scheme} {token}"} | ({"DPoP": proof} if proof is not None else {})
    return await world.client.get("/auth/userinfo", headers=headers)


async def test_bound_tokens_name_the_key_and_work_with_a_proof_of_it(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    access_token = tokens["access_token"]
    proof = key.proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token=access_token)

    assert tokens["token_type"] == "DPoP"
    assert "jkt" in claims_of(access_token)["cnf"]
    assert (await user_info(world, access_token, proof)).status == 200


async def test_a_bound_token_opens_nothing_without_its_proof(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    make = partial(key.proof, now=world.clock, nonce=nonce, access_token=token)

    refused = {
        "bearer": await user_info(world, token, None, "Bearer"),
        "bearer with a proof": await user_info(world, token, make("GET", "/auth/userinfo"), "Bearer"),
        "no proof": await user_info(world, token, None),
        "another method": await user_info(world, token, make("POST", "/auth/userinfo")),
        "another address": await user_info(world, token, make("GET", "/api/user")),
        "another token": await user_info(
            world, token, key.proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token="x")
        ),
        "another key": await user_info(
            world, token, ProofKey().proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token=token)
        ),
        "an old proof": await user_info(world, token, make("GET", "/auth/userinfo", iat=1)),
        "no id": await user_info(world, token, make("GET", "/auth/userinfo", jti="")),
        "nonsense": await user_info(world, token, "nonsense"),
    }

    assert {name: answer.status for name, answer in refused.items()} == dict.fromkeys(refused, 401)
    bearer = await world.client.get("/api/user", token=token)
    for answer in (bearer, refused["bearer"], refused["bearer with a proof"]):
        challenge = answer.headers["WWW-Authenticate"]
        assert challenge.startswith('DPoP error="invalid_token", algs="')
        assert "ES256" in challenge
    assert bearer.status == 401


async def test_a_proof_is_good_once(app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    proof = key.proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token=token)

    answers = await at_once(*[partial(user_info, world, token, proof)] * 3)

    assert statuses_of(answers) == [200, 401, 401]


async def test_a_proof_is_taken_as_it_was_written_alone(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    proof = key.proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token=token)

    refused = [await user_info(world, token, f"{proof}=="), await user_info(world, f"{token}==", proof)]

    assert statuses_of(refused) == [401, 401]
    # What was refused has not used the proof.
    assert (await user_info(world, token, proof)).status == 200
    assert (await user_info(world, token, f"{proof}==")).status == 401


async def test_a_used_proof_is_remembered_for_as_long_as_its_nonce_is_good(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    proof = key.proof("GET", "/auth/userinfo", now=world.clock, nonce=nonce, access_token=token)
    assert (await user_info(world, token, proof)).status == 200
    world.clock.advance(timedelta(minutes=4))
    sweep, uses = housekeeping.sweep, Leftover.SINGLE_USES

    await world.installation.database.transact(sweep, uses, uses.kept_for, 100)

    assert (await user_info(world, token, proof)).status == 401


async def test_a_nonce_is_good_for_five_minutes_and_cannot_be_made_up(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    world.clock.advance(timedelta(minutes=5))

    for wrong in (nonce, "A" * 32, "", None):
        proof = key.proof("GET", "/auth/userinfo", now=world.clock, nonce=wrong, access_token=token)
        answer = await user_info(world, token, proof)
        assert (answer.status, answer.json["error"]) == (401, "use_dpop_nonce")
        assert answer.headers["WWW-Authenticate"] == 'DPoP error="use_dpop_nonce"'
        assert answer.headers["DPoP-Nonce"] != wrong


async def test_the_answer_with_a_nonce_never_becomes_one_of_too_many_wrong_credentials(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    token = (await bound_tokens(app, key))[0]["access_token"]
    client = serving_with_rate_limits(world.installation)
    proof = key.proof("GET", "/api/user", now=world.clock, access_token=token)
    headers = {"Authorization": f"DPoP {token}", "DPoP": proof}

    answers = [await client.get("/api/user", headers=headers) for _ in range(RateLimit.REFUSED_CREDENTIAL.burst + 1)]

    assert {answer.status for answer in answers} == {401}
    assert answers[-1].headers["DPoP-Nonce"]


async def test_every_endpoint_takes_a_bound_token_with_its_proof(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    token = tokens["access_token"]
    headers = {"Authorization": f"DPoP {token}"}
    make = partial(key.proof, "GET", "/api/user", now=world.clock, access_token=token)

    without_nonce = await world.client.get("/api/user", headers={**headers, "DPoP": make()})
    right = await world.client.get("/api/user", headers={**headers, "DPoP": make(nonce=nonce)})

    assert (without_nonce.status, right.status) == (401, 200)
    assert "DPoP-Nonce" in without_nonce.headers


async def test_a_bound_refresh_token_needs_a_proof_of_the_same_key(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    tokens, nonce = await bound_tokens(app, key)
    make = partial(ProofKey.proof, method="POST", path="/auth/token", now=world.clock, nonce=nonce)
    refresh = partial(app.token, "refresh_token", refresh_token=tokens["refresh_token"])

    without = await refresh()
    other = await refresh({"DPoP": make(ProofKey())})
    at_the_other_endpoint = await world.refresh(tokens["refresh_token"])
    right = await refresh({"DPoP": make(key)})

    assert statuses_of([without, other, at_the_other_endpoint, right]) == [200, 400, 400, 401]
    assert right.json["token_type"] == "DPoP"
    assert claims_of(right.json["access_token"])["cnf"] == claims_of(tokens["access_token"])["cnf"]


async def test_a_code_that_announces_a_key_is_exchanged_with_that_key_only(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    thumbprint = claims_of((await bound_tokens(app, key))[0]["access_token"])["cnf"]["jkt"]
    nonce = await nonce_for(app, key)

    unbound = await app.redeem(await app.code(dpop_jkt=thumbprint))
    other = ProofKey().proof("POST", "/auth/token", now=world.clock, nonce=nonce)
    wrong = await app.redeem(await app.code(dpop_jkt=thumbprint), {"DPoP": other})
    proof = key.proof("POST", "/auth/token", now=world.clock, nonce=nonce)
    right = await app.redeem(await app.code(dpop_jkt=thumbprint), {"DPoP": proof})

    assert statuses_of([unbound, wrong, right]) == [200, 400, 400]


async def test_a_proof_with_a_private_key_or_a_symmetric_one_is_refused(
    app: RelyingParty, shop: RelyingParty, world: World, key: ProofKey
) -> None:
    claims = {
        "jti": "j",
        "htm": "POST",
        "htu": "http://localhost:8000/auth/token",
        "iat": int(world.clock().timestamp()),
    }
    private = {**key.public, "d": "AAAA"}
    leaking = jwt.encode(claims, key.private, "ES256", headers={"typ": "dpop+jwt", "jwk": private})
    symmetric = jwt.encode(claims, "k" * 32, "HS256", headers={"typ": "dpop+jwt", "jwk": {"kty": "oct", "k": "a2tr"}})

    for proof in (leaking, symmetric):
        answer = await app.token("refresh_token", {"DPoP": proof}, refresh_token="x")
        assert (answer.status, answer.json["error"]) == (400, "invalid_dpop_proof")


async def test_a_client_may_bind_its_own_token(shop: RelyingParty, world: World, key: ProofKey) -> None:
    first = await shop.token(
        "client_credentials", {**shop.basic, "DPoP": key.proof("POST", "/auth/token", now=world.clock)}
    )
    proof = key.proof("POST", "/auth/token", now=world.clock, nonce=first.headers["DPoP-Nonce"])

    answer = await shop.token("client_credentials", {**shop.basic, "DPoP": proof})

    assert answer.json["token_type"] == "DPoP"
    assert "jkt" in claims_of(answer.json["access_token"])["cnf"]


async def test_a_pushed_request_may_announce_a_key_by_its_proof(
    shop: RelyingParty, world: World, key: ProofKey
) -> None:
    parameters = {"response_type": "code", "redirect_uri": REDIRECT_URI, "scope": "openid"}
    first = await shop.post(
        "/auth/par", parameters, {**shop.basic, "DPoP": key.proof("POST", "/auth/par", now=world.clock)}
    )
    nonce = first.headers["DPoP-Nonce"]

    async def push(**more: str) -> Answer:
        proof = key.proof("POST", "/auth/par", now=world.clock, nonce=nonce)
        return await shop.post("/auth/par", {**parameters, **more}, {**shop.basic, "DPoP": proof})

    assert (await push()).status == 201
    assert (await push(dpop_jkt="A" * 43)).json["error"] == "invalid_dpop_proof"
    stored = world.value("SELECT parameters->>'dpop_jkt' FROM authorization_requests")
    assert len(stored) == 43
