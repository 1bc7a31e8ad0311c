"""The FAPI 2.0 Security Profile at the token endpoint, and with the tokens at a protected resource.

Each test stands for modules of the OpenID Foundation's plan `fapi2-security-profile-final-test-plan`, with
`private_key_jwt`, DPoP, OpenID Connect and plain responses; the comment names them without their common beginning.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import jwt
import pytest

from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.relying_party import BASE_URL
from tests.world.signing_in import claims_of
from tests.world.strict_party import PAR, TOKEN, USERINFO, StrictKey, StrictParty, insert_strict_party
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
async def bank(world: World) -> StrictParty:
    """A service with the profile, which knows a nonce, and a user."""
    world.user(EMAIL)
    bank = insert_strict_party(world)
    await bank.learn_nonce()
    return bank


def refusal(answer: Answer) -> tuple[int, str]:
    """Return the status and the name of a refusal."""
    return answer.status, answer.json["error"]


# discovery-end-point-verification
async def test_the_metadata_say_what_the_profile_needs(world: World, subtests: pytest.Subtests) -> None:
    for path in ("openid-configuration", "oauth-authorization-server"):
        with subtests.test(path):
            metadata = (await world.client.get(f"/.well-known/{path}")).json

            assert metadata["issuer"] == BASE_URL
            assert metadata["pushed_authorization_request_endpoint"] == f"{BASE_URL}{PAR}"
            assert metadata["authorization_response_iss_parameter_supported"] is True
            assert "S256" in metadata["code_challenge_methods_supported"]
            assert "code" in metadata["response_types_supported"]
            assert "openid" in metadata["scopes_supported"]
            assert "private_key_jwt" in metadata["token_endpoint_auth_methods_supported"]
            assert "refresh_token" in metadata["grant_types_supported"]
            for name in ("token_endpoint_auth_signing_alg_values_supported", "dpop_signing_alg_values_supported"):
                assert {"ES256", "PS256"} <= set(metadata[name]), name
            assert metadata["id_token_signing_alg_values_supported"] == ["RS256", "ES256"]


# happy-flow: the algorithms of FAPI 2.0, 5.4
async def test_the_tokens_are_signed_by_the_published_elliptic_key(
    bank: StrictParty, visitor: Visitor, world: World
) -> None:
    tokens = await bank.tokens(visitor)
    refreshed = (await bank.refresh(tokens["refresh_token"])).json
    keys = jwt.PyJWKSet.from_dict((await world.client.get("/.well-known/jwks.json")).json)

    for token in (tokens["access_token"], tokens["id_token"], refreshed["access_token"], refreshed["id_token"]):
        header = jwt.get_unverified_header(token)
        assert header["alg"] == "ES256"
        assert jwt.decode(
            token, keys[header["kid"]], algorithms=["ES256"], audience=bank.client_id, options={"verify_exp": False}
        )


# happy-flow with keys of RSA, which sign by PS256
async def test_a_client_may_sign_by_ps256(bank: StrictParty, visitor: Visitor) -> None:
    bank.key, bank.holder = StrictKey("PS256"), StrictKey("PS256", number=3)
    bank.register()

    tokens = await bank.tokens(visitor)

    assert claims_of(tokens["access_token"])["cnf"] == {"jkt": bank.holder.thumbprint}
    assert (await bank.userinfo(tokens["access_token"])).status == 200


# ensure-signed-client-assertion-with-RS256-fails
async def test_an_assertion_by_another_algorithm_is_refused(bank: StrictParty, visitor: Visitor) -> None:
    back = await bank.sign_in(visitor)
    bank.key = StrictKey("PS256")
    bank.register()

    by_rs256 = await bank.redeem(back["code"], client_assertion=bank.assertion(algorithm="RS256"))
    by_ps256 = await bank.redeem(back["code"])

    assert refusal(by_rs256) == (401, "invalid_client")
    assert by_ps256.status == 200


# ensure-client-assertion-in-token-endpoint-fails, ensure-client-assertion-with-exp-is-5-minutes-in-past-fails,
# ensure-client-assertion-with-wrong-aud-fails, ensure-client-assertion-with-no-sub-fails,
# ensure-client-id-in-token-endpoint
async def test_a_code_is_exchanged_by_an_authenticated_client_alone(
    bank: StrictParty, visitor: Visitor, world: World, subtests: pytest.Subtests
) -> None:
    broker = insert_strict_party(world, "broker")
    code = (await bank.sign_in(visitor))["code"]
    now = bank.now
    cases: dict[str, dict[str, str | None]] = {
        "none": {"client_assertion": None, "client_assertion_type": None, "client_id": bank.client_id},
        "expired": {"client_assertion": bank.assertion(iat=now - 360, exp=now - 300)},
        "for another server": {"client_assertion": bank.assertion(aud="https://other.example/")},
        "no sub": {"client_assertion": bank.assertion(sub=None)},
        "no iss": {"client_assertion": bank.assertion(iss=None)},
        "no exp": {"client_assertion": bank.assertion(exp=None)},
        "no jti": {"client_assertion": bank.assertion(jti=None)},
        "another key": {"client_assertion": bank.assertion(key=StrictKey())},
        "the id of another client": {"client_id": broker.client_id},
    }
    for name, fields in cases.items():
        with subtests.test(name):
            assert refusal(await bank.redeem(code, **fields)) == (401, "invalid_client")
    assert (await bank.redeem(code)).status == 200


# ensure-authorization-code-is-bound-to-client
async def test_a_code_is_that_of_its_client(bank: StrictParty, visitor: Visitor, world: World) -> None:
    broker = insert_strict_party(world, "broker")
    broker.nonce = bank.nonce
    code = (await bank.sign_in(visitor))["code"]

    assert refusal(await broker.redeem(code)) == (400, "invalid_grant")
    assert (await bank.redeem(code)).status == 200


# ensure-holder-of-key-required
async def test_a_code_is_exchanged_with_a_proof_alone(bank: StrictParty, visitor: Visitor) -> None:
    code = (await bank.sign_in(visitor))["code"]

    without = await bank.token(
        "authorization_code", code=code, redirect_uri="https://shop.example/callback", code_verifier="v" * 43
    )

    assert refusal(without) == (400, "invalid_dpop_proof")
    assert (await bank.redeem(code)).status == 200


# attempt-reuse-authorization-code-after-one-second
async def test_a_code_that_is_used_again_is_refused_and_ends_the_tokens(
    bank: StrictParty, visitor: Visitor, world: World
) -> None:
    code = (await bank.sign_in(visitor))["code"]
    tokens = (await bank.redeem(code)).json
    assert (await bank.userinfo(tokens["access_token"])).status == 200
    world.clock.advance(timedelta(seconds=1))

    assert refusal(await bank.redeem(code)) == (400, "invalid_grant")
    assert (await bank.userinfo(tokens["access_token"])).status == 401


# ensure-token-endpoint-fails-with-expired-auth-code
async def test_a_code_lives_for_60_seconds(bank: StrictParty, visitor: Visitor, world: World) -> None:
    code = (await bank.sign_in(visitor))["code"]
    world.clock.advance(timedelta(seconds=60))

    assert refusal(await bank.redeem(code)) == (400, "invalid_grant")


# ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected
async def test_a_code_needs_its_verifier(bank: StrictParty, visitor: Visitor) -> None:
    for verifier in (None, "w" * 43):
        code = (await bank.sign_in(visitor))["code"]

        assert refusal(await bank.redeem(code, code_verifier=verifier)) == (400, "invalid_grant")


# ensure-token-endpoint-fails-with-mismatched-dpop-jkt, ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt
async def test_a_code_is_exchanged_with_the_key_that_its_request_has_announced(
    bank: StrictParty, visitor: Visitor
) -> None:
    other = StrictKey()
    announced = (await bank.sign_in(visitor, dpop_jkt=other.thumbprint))["code"]
    address = await bank.address(proof=bank.proof("POST", PAR, key=other))
    proved = (await bank.sign_in(visitor, address))["code"]

    for code in (announced, proved):
        assert refusal(await bank.redeem(code)) == (400, "invalid_dpop_proof")


# ensure-dpop-auth-code-binding-success, ensure-dpopproof-at-par-endpoint-binding-success
async def test_a_request_may_announce_the_key_by_its_thumbprint_and_by_a_proof(
    bank: StrictParty, visitor: Visitor
) -> None:
    thumbprint = bank.holder.thumbprint
    addresses = [
        await bank.address(dpop_jkt=thumbprint),
        await bank.address(proof=bank.proof("POST", PAR)),
        await bank.address(proof=bank.proof("POST", PAR), dpop_jkt=thumbprint),
    ]

    for address in addresses:
        tokens = (await bank.redeem((await bank.sign_in(visitor, address))["code"])).json
        assert claims_of(tokens["access_token"])["cnf"] == {"jkt": thumbprint}


# ensure-dpopproof-with-iat-10seconds-before-succeeds, ensure-dpopproof-with-iat-10seconds-after-succeeds,
# check-dpop-proof-nbf-exp
async def test_the_clock_of_the_holder_may_differ_by_some_seconds(bank: StrictParty, visitor: Visitor) -> None:
    times: list[dict[str, Any]] = [
        {"iat": bank.now - 10},
        {"iat": bank.now + 10},
        {"nbf": bank.now, "exp": bank.now + 300},
        {"nbf": bank.now + 10},
    ]
    for claims in times:
        address = await bank.address(proof=bank.proof("POST", PAR, **claims))
        code = (await bank.sign_in(visitor, address))["code"]
        tokens = (await bank.redeem(code, proof=bank.proof("POST", TOKEN, **claims))).json
        at_resource = bank.proof("GET", USERINFO, access_token=tokens["access_token"], **claims)

        assert (await bank.userinfo(tokens["access_token"], at_resource)).status == 200, claims


async def test_a_proof_of_the_future_or_by_another_algorithm_gets_no_tokens(
    bank: StrictParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    code = (await bank.sign_in(visitor))["code"]
    for name, proof in (
        ("a minute ahead", bank.proof("POST", TOKEN, iat=bank.now + 61)),
        ("valid in a minute", bank.proof("POST", TOKEN, nbf=bank.now + 61)),
        ("RS256", bank.proof("POST", TOKEN, key=StrictKey("RS256"))),
    ):
        with subtests.test(name):
            assert refusal(await bank.redeem(code, proof=proof)) == (400, "invalid_dpop_proof")
    assert (await bank.redeem(code)).status == 200


# access-token-type-header-case-sensitivity
async def test_the_scheme_of_the_access_token_is_taken_in_any_case(bank: StrictParty, visitor: Visitor) -> None:
    token = (await bank.tokens(visitor))["access_token"]

    for scheme in ("DPoP", "dpop", "DPOP", "dPoP"):
        assert (await bank.userinfo(token, scheme=scheme)).status == 200, scheme


# dpop-negative-tests
async def test_a_proof_at_a_resource_is_taken_only_as_the_specification_has_it(
    bank: StrictParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    token = (await bank.tokens(visitor))["access_token"]

    def proof(*, header: dict[str, Any] | None = None, algorithm: str | None = None, **claims: Any) -> str:
        return bank.proof("GET", USERINFO, access_token=token, header=header, algorithm=algorithm, **claims)

    valid = proof()
    refused = {
        "upper case": proof().upper(),
        "no JWT": "nonsense",
        "no typ": proof(header={"typ": None}),
        "no jwk": proof(header={"jwk": None}),
        "no jti": proof(jti=None),
        "no htm": proof(htm=None),
        "no htu": proof(htu=None),
        "no iat": proof(iat=None),
        "no ath": proof(ath=None),
        "another typ": proof(header={"typ": "JWT"}),
        "a wrong signature": valid[:-8] + ("A" * 8 if valid[-8:] != "A" * 8 else "B" * 8),
        "a private key": proof(header={"jwk": {**bank.holder.public, "d": "AAAA"}}),
        "another method": proof(htm="POST"),
        "another address": proof(htu=f"{BASE_URL}/auth/other"),
        "an hour ahead": proof(iat=bank.now + 3600),
        "an hour ago": proof(iat=bank.now - 3600),
        "another access token": proof(ath="AAAA"),
        "another key": bank.proof("GET", USERINFO, access_token=token, key=StrictKey()),
        "no algorithm": jwt.encode({}, "", "none", headers={"typ": "dpop+jwt", "jwk": bank.holder.public}),
    }
    for name, wrong in refused.items():
        with subtests.test(name):
            assert (await bank.userinfo(token, wrong)).status == 401

    taken = {
        "a query": proof(htu=f"{BASE_URL}{USERINFO}?x=1#y"),
        "upper case in the host": proof(htu=f"HTTP://LOCALHOST:8000{USERINFO}"),
        "more claims": proof(header={"x": 1}, extra="y"),
    }
    for name, right in taken.items():
        with subtests.test(name):
            assert (await bank.userinfo(token, right)).status == 200
            # Its jti is used up.
            assert (await bank.userinfo(token, right)).status == 401
    without = {"Authorization": f"DPoP {token}"}
    assert (await bank.world.client.get(USERINFO, headers=without)).status == 401
    assert (await bank.userinfo(token, scheme="Bearer")).status == 401
    assert (await bank.world.client.get(USERINFO, token=token)).status == 401


# dpop-negative-tests: a proof by RS256
async def test_a_holder_with_an_rsa_key_signs_by_ps256_at_a_resource_too(bank: StrictParty, visitor: Visitor) -> None:
    bank.holder = StrictKey("PS256")
    token = (await bank.tokens(visitor))["access_token"]

    by_rs256 = bank.proof("GET", USERINFO, access_token=token, algorithm="RS256")

    assert (await bank.userinfo(token, by_rs256)).status == 401
    assert (await bank.userinfo(token)).status == 200


# refresh-token
async def test_a_refresh_token_stays_the_same_and_is_bound_to_client_and_key(
    bank: StrictParty, visitor: Visitor, world: World, subtests: pytest.Subtests
) -> None:
    broker = insert_strict_party(world, "broker")
    broker.nonce = bank.nonce
    tokens = await bank.tokens(visitor)
    refresh_token = tokens["refresh_token"]
    none = {"client_assertion": None, "client_assertion_type": None, "client_id": bank.client_id}

    for _ in range(3):
        world.clock.advance(timedelta(minutes=1))
        refreshed = (await bank.refresh(refresh_token)).json
        assert refreshed["refresh_token"] == refresh_token
        assert refreshed["token_type"] == "DPoP"
        assert (await bank.userinfo(refreshed["access_token"])).status == 200

    for name, answer, expected in (
        ("without authentication", await bank.refresh(refresh_token, **none), (401, "invalid_client")),
        ("by another client", await broker.refresh(refresh_token), (400, "invalid_grant")),
        (
            "with another key",
            await bank.refresh(refresh_token, proof=bank.proof("POST", TOKEN, key=StrictKey())),
            (400, "invalid_grant"),
        ),
        (
            "without a proof",
            await bank.token("refresh_token", refresh_token=refresh_token),
            (400, "invalid_dpop_proof"),
        ),
    ):
        with subtests.test(name):
            assert refusal(answer) == expected
    assert (await bank.refresh(refresh_token)).status == 200
