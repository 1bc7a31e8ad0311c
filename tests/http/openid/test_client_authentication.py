"""Clients authenticate by their secret or by an assertion; every other request is refused as `invalid_client`."""

from __future__ import annotations

import base64
import ipaddress
import json
from dataclasses import replace
from datetime import timedelta
from functools import partial
from urllib.parse import urlencode

import jwt
import pytest
from psycopg.types.json import Jsonb
from structlog.testing import capture_logs

from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.outbound import outbound_client
from core.openid.clients import ASSERTION_TYPE
from core.rate_limits import RateLimit
from tests.application import Answer, serving, serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.receiver import open_receiver
from tests.world.builder import EMAIL
from tests.world.relying_party import (
    BASE_URL,
    FORM,
    PKCE,
    REDIRECT_URI,
    VERIFIER,
    ProofKey,
    RelyingParty,
    insert_relying_party,
)
from tests.world.signing_in import claims_of
from tests.world.world import World

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def key(shop: RelyingParty) -> ProofKey:
    """A key whose public part the service has registered."""
    key = ProofKey()
    shop.set(jwks=Jsonb({"keys": [{**key.public, "kid": "one"}]}))
    return key


async def grant(shop: RelyingParty, assertion: str, **fields: str) -> Answer:
    """Ask for a token of the client itself with an assertion."""
    return await shop.send(
        "/auth/token",
        {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": assertion,
            **fields,
        },
    )


async def test_the_secret_is_taken_in_the_header_in_a_form_and_in_json(shop: RelyingParty, world: World) -> None:
    fields = {"grant_type": "client_credentials", "client_id": str(shop.client_id), "client_secret": shop.secret or ""}

    in_header = await shop.token("client_credentials")
    in_form = await shop.send("/auth/token", fields)
    in_json = await world.client.post("/auth/token", body=fields)

    assert statuses_of([in_header, in_form, in_json]) == [200, 200, 200]


async def test_a_malformed_authorization_is_refused(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for authorization in (
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"no-colon").decode(),
        "Basic " + "A" * 9,
    ):
        with subtests.test(authorization=authorization):
            answer = await shop.token("client_credentials", {"Authorization": authorization})

            assert (answer.status, answer.json["error"]) == (401, "invalid_client")
            assert answer.headers["WWW-Authenticate"].startswith("Basic")


async def test_a_client_that_used_no_header_by_basic_is_told_of_none(shop: RelyingParty) -> None:
    named = {"grant_type": "client_credentials", "client_id": str(shop.client_id)}
    for headers, fields in (
        ({}, named),
        ({}, {**named, "client_secret": "wrong"}),
        ({"Authorization": "Bearer x"}, named),
    ):
        answer = await shop.send("/auth/token", fields, headers)

        assert (answer.status, answer.json["error"]) == (401, "invalid_client")
        assert "WWW-Authenticate" not in answer.headers


def for_workloads(party: RelyingParty) -> dict[str, str]:
    """Return the header that a library sends for a client without a secret: with an empty one."""
    return {"Authorization": "Basic " + base64.b64encode(f"{party.client_id}:".encode()).decode()}


async def test_an_empty_secret_in_the_header_is_that_of_a_public_client(app: RelyingParty, world: World) -> None:
    world.user(EMAIL)
    header, client_id = for_workloads(app), str(app.client_id)
    code = await app.code()
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER}

    tokens = await app.send("/auth/token", fields, header)
    refreshed = await app.send(
        "/auth/token", {"grant_type": "refresh_token", "refresh_token": tokens.json["refresh_token"]}, header
    )
    pushed = await app.send(
        "/auth/par", {"client_id": client_id, "response_type": "code", "redirect_uri": REDIRECT_URI, **PKCE}, header
    )
    device = await app.send("/auth/device/code", {}, header)
    polled = await app.send("/auth/token", {"device_code": device.json["device_code"]}, header)
    own = await app.send("/auth/token", {"grant_type": "client_credentials"}, header)
    introspected = await app.send("/auth/introspect", {"token": tokens.json["access_token"]}, header)
    revoked = await app.send("/auth/revoke", {"token": tokens.json["access_token"]}, header)

    assert statuses_of([tokens, refreshed, pushed, device, revoked]) == [200, 200, 200, 200, 201]
    assert polled.json["error"] == "authorization_pending"
    assert (own.json["error"], introspected.json["error"]) == ("unauthorized_client", "unauthorized_client")
    assert not app.is_live(tokens.json)
    assert (await world.client.get("/api/user", token=refreshed.json["access_token"])).status == 401


async def test_an_empty_secret_in_the_header_is_not_that_of_a_confidential_client(
    shop: RelyingParty, subtests: pytest.Subtests
) -> None:
    code, tokens = await shop.code(), await shop.tokens()
    fields = {"client_id": str(shop.client_id), "response_type": "code", "redirect_uri": REDIRECT_URI, **PKCE}
    for path, sent in {
        "/auth/token": {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        },
        "/auth/par": fields,
        "/auth/device/code": {},
        "/auth/introspect": {"token": tokens["access_token"]},
        "/auth/revoke": {"token": tokens["access_token"]},
    }.items():
        with subtests.test(path=path):
            answer = await shop.send(path, sent, for_workloads(shop))

            assert (answer.status, answer.json["error"]) == (401, "invalid_client")
            assert answer.headers["WWW-Authenticate"].startswith("Basic")
    assert shop.is_live(tokens)


async def test_guessing_with_empty_secrets_is_limited_by_address(world: World, shop: RelyingParty) -> None:
    client = serving_with_rate_limits(world.installation)
    header = {**FORM, **for_workloads(shop)}

    answers = [
        await client.post("/auth/token", data=b"grant_type=client_credentials", headers=header) for _ in range(25)
    ]

    assert {answer.status for answer in answers} == {401, 429}


@pytest.mark.parametrize(
    "fields",
    [
        {"grant_type": "password"},
        {"grant_type": "authorization_code"},
        {"grant_type": "client_credentials", "client_secret": "two"},
    ],
)
async def test_what_no_other_limit_counts_is_noted_within_one(
    world: World, shop: RelyingParty, fields: dict[str, str]
) -> None:
    client, noted = serving_with_rate_limits(world.installation), RateLimit.NOTED_REFUSAL.burst

    with capture_logs() as logs:
        answers = [
            await client.post("/auth/token", data=urlencode(fields).encode(), headers={**FORM, **shop.basic})
            for _ in range(noted + 1)
        ]

    assert {answer.status for answer in answers} == {400}
    lines = [line for line in logs if line["event"] == "request"]
    assert [line.get("client_id") for line in lines] == [str(shop.client_id)] * noted + [None]
    assert len({line["oauth_error"] for line in lines}) == 1


async def test_an_assertion_may_name_the_address_that_it_is_sent_to(
    shop: RelyingParty, world: World, key: ProofKey
) -> None:
    fields = {"client_id": str(shop.client_id), "response_type": "code", "redirect_uri": REDIRECT_URI, **PKCE}
    par, token = f"{BASE_URL}/auth/par", f"{BASE_URL}/auth/token"

    async def push(audience: object) -> Answer:
        assertion = key.assertion(shop.client_id, now=world.clock, aud=audience)
        return await shop.send(
            "/auth/par", {**fields, "client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion}
        )

    assert statuses_of([await push(audience) for audience in (par, token, BASE_URL, [BASE_URL])]) == [201] * 4
    assert statuses_of([await push(audience) for audience in ([par], [BASE_URL, par], f"{par}/", None)]) == [401] * 4
    # Elsewhere it is the address of another endpoint.
    assert (await grant(shop, key.assertion(shop.client_id, now=world.clock, aud=token))).status == 200
    assert (await grant(shop, key.assertion(shop.client_id, now=world.clock, aud=par))).status == 401


async def test_two_ways_to_authenticate_at_once_are_refused(shop: RelyingParty) -> None:
    answer = await shop.token("client_credentials", shop.basic, client_secret=shop.secret or "")

    assert (answer.status, answer.json["error"]) == (400, "invalid_request")


async def test_the_secret_of_another_service_is_wrong(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    stolen = base64.b64encode(f"{shop.client_id}:{other.secret}".encode()).decode()

    assert (await shop.token("client_credentials", {"Authorization": f"Basic {stolen}"})).status == 401


async def test_a_repeated_parameter_is_refused(world: World, shop: RelyingParty) -> None:
    answer = await world.client.post(
        "/auth/token", data=b"grant_type=refresh_token&grant_type=client_credentials", headers={**FORM, **shop.basic}
    )

    assert (answer.status, answer.json["error"]) == (400, "invalid_request")


async def test_a_client_of_an_inactive_organization_is_refused(shop: RelyingParty, world: World) -> None:
    world.set_organization_status(shop.organization_id, "suspended")

    assert (await shop.token("client_credentials")).status == 401


async def test_a_public_client_gets_no_token_of_its_own(app: RelyingParty) -> None:
    answer = await app.token("client_credentials")

    assert (answer.status, answer.json["error"]) == (400, "unauthorized_client")


async def test_a_token_of_the_client_itself_opens_nothing_at_gatehouse(shop: RelyingParty, world: World) -> None:
    token = (await shop.token("client_credentials")).json
    claims = claims_of(token["access_token"])

    assert claims["sub"] == claims["aud"] == str(shop.client_id)
    assert "refresh_token" not in token
    for path in ("/api/user", "/auth/userinfo", "/api/organizations/acme"):
        assert (await world.client.get(path, token=token["access_token"])).status == 401, path


async def test_an_assertion_authenticates_once(shop: RelyingParty, world: World, key: ProofKey) -> None:
    assertion = key.assertion(shop.client_id, now=world.clock)

    answers = await at_once(*[partial(grant, shop, assertion)] * 3)

    assert statuses_of(answers) == [200, 401, 401]


async def test_an_assertion_is_taken_as_it_was_written_alone(shop: RelyingParty, world: World, key: ProofKey) -> None:
    assertion = key.assertion(shop.client_id, now=world.clock)

    answers = [await grant(shop, text) for text in (f"{assertion}==", assertion, f"{assertion}==")]

    # What was refused at first has not used the assertion.
    assert [answer.status for answer in answers] == [401, 200, 401]


async def test_an_assertion_with_wrong_claims_is_refused(
    shop: RelyingParty, world: World, key: ProofKey, subtests: pytest.Subtests
) -> None:
    for claims in (
        {"iss": "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"},
        {"sub": "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"},
        {"aud": "https://other.example"},
        {"aud": ["http://localhost:8000", "https://other.example"]},
        {"exp": 1},
        {"exp": 2**60},
        {"exp": "soon"},
        {"nbf": 2**40},
        {"jti": None},
        {"jti": ""},
    ):
        with subtests.test(claims=claims):
            answer = await grant(shop, key.assertion(shop.client_id, now=world.clock, **claims))

            assert (answer.status, answer.json["error"]) == (401, "invalid_client")
    assert (await grant(shop, key.assertion(shop.client_id, now=world.clock))).status == 200


async def test_an_assertion_that_has_expired_is_refused(shop: RelyingParty, world: World, key: ProofKey) -> None:
    assertion = key.assertion(shop.client_id, now=world.clock)
    world.clock.advance(timedelta(minutes=2))

    assert (await grant(shop, assertion)).status == 401


async def test_the_keys_of_one_tenant_sign_nothing_for_another(shop: RelyingParty, world: World, key: ProofKey) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    other.set(jwks=Jsonb({"keys": [{**ProofKey().public, "kid": "one"}]}))

    assert (await grant(other, key.assertion(other.client_id, now=world.clock))).status == 401
    assert (
        await grant(shop, key.assertion(shop.client_id, now=world.clock), client_id=str(other.client_id))
    ).status == 401


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
async def test_an_assertion_with_another_algorithm_is_refused(
    shop: RelyingParty, world: World, key: ProofKey, algorithm: str
) -> None:
    at = int(world.clock().timestamp())
    claims = {
        "iss": str(shop.client_id),
        "sub": str(shop.client_id),
        "aud": "http://localhost:8000",
        "jti": "j",
        "exp": at + 60,
    }
    # The public key as the secret of an HMAC: the classic confusion of algorithms.
    secret = key.public["x"].ljust(32, "0") if algorithm == "HS256" else ""
    assertion = jwt.encode(claims, secret, algorithm, headers={"kid": "one"})

    assert (await grant(shop, assertion)).status == 401


async def test_requests_that_authenticate_are_not_limited_by_address(shop: RelyingParty) -> None:
    assert {(await shop.token("client_credentials")).status for _ in range(25)} == {200}


async def test_an_assertion_is_verified_with_the_keys_at_the_client_s_address(shop: RelyingParty, world: World) -> None:
    key = ProofKey()
    async with open_receiver() as receiver, outbound_client(LOOPBACK) as http:
        body = json.dumps({"keys": [{**key.public, "kid": "one"}]}).encode()
        receiver.answers(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        shop.set(jwks=None, jwks_uri=receiver.url)
        client = serving(replace(world.installation, key_sets=HttpKeySets(http)))
        fetching = replace(shop, world=replace(world, client=client))

        answers = [await grant(fetching, key.assertion(shop.client_id, now=world.clock)) for _ in range(2)]
        forged = await grant(fetching, ProofKey().assertion(shop.client_id, now=world.clock))

        assert statuses_of(answers) == [200, 200]
        assert forged.status == 401
        assert len(receiver.received) == 1


async def test_a_client_without_registered_keys_cannot_authenticate_by_an_assertion(
    shop: RelyingParty, app: RelyingParty, world: World
) -> None:
    key = ProofKey()

    for client_id in (shop.client_id, app.client_id, "nonsense"):
        assert (await grant(shop, key.assertion(client_id, now=world.clock))).status == 401
    assert (await grant(shop, "nonsense")).status == 401
    wrong_type = await grant(shop, key.assertion(shop.client_id, now=world.clock), client_assertion_type="saml")
    assert (wrong_type.status, wrong_type.json["error"]) == (400, "invalid_request")
