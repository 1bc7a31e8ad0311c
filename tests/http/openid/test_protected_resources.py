"""A program that an API refuses finds the issuer of its tokens (RFC 9728)."""

from __future__ import annotations

import re

import pytest

from tests.world.authorization import sign_in
from tests.world.domains import DOMAIN, insert_verified
from tests.world.relying_party import BASE_URL, PKCE, REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World

METADATA = "/.well-known/oauth-protected-resource"
ISSUER_THERE = f"http://{DOMAIN}:8000"
THERE = {"Host": DOMAIN}
API = "https://api.shop.example/v1"


def claim_audiences(party: RelyingParty, *audiences: str) -> None:
    """Give a service audiences, as its record has them."""
    party.set(audiences=list(audiences))
    for audience in audiences:
        party.world.connection.execute(
            b"INSERT INTO service_audiences (audience, organization_id, service_id) VALUES (%s, %s, %s)",
            (audience, party.organization_id, party.service_id),
        )


async def test_a_refusal_leads_to_the_issuer(world: World) -> None:
    for headers, challenge in (
        ({}, "Bearer resource_metadata="),
        ({"Authorization": "Bearer x"}, 'Bearer error="invalid_token", resource_metadata='),
    ):
        refused = await world.client.get("/api/user", headers=headers)
        address = re.findall(r'resource_metadata="([^"]*)"', refused.headers["WWW-Authenticate"])
        described = await world.client.get(address[0].removeprefix(BASE_URL))
        [server] = described.json["authorization_servers"]
        discovery = await world.client.get(f"{server.removeprefix(BASE_URL)}/.well-known/oauth-authorization-server")

        assert refused.status == 401
        assert refused.headers["WWW-Authenticate"].startswith(challenge)
        assert (described.status, described.json["resource"]) == (200, BASE_URL)
        assert described.json["bearer_methods_supported"] == ["header"]
        assert described.json["scopes_supported"] == discovery.json["scopes_supported"]
        assert described.headers["Cache-Control"] == "public, max-age=300"
        assert discovery.json["issuer"] == server


async def test_the_challenge_for_a_proof_leads_there_as_well(shop: RelyingParty, world: World) -> None:
    refused = await world.client.get("/api/user", headers={"Authorization": "DPoP x"})

    assert refused.status == 401
    assert f'resource_metadata="{BASE_URL}{METADATA}"' in refused.headers["WWW-Authenticate"]


async def test_other_interfaces_are_not_described_as_this_one(world: World) -> None:
    for path in ("/scim/v2/Users", "/auth/userinfo"):
        assert "resource_metadata" not in (await world.client.get(path)).headers["WWW-Authenticate"], path


async def test_a_custom_domain_describes_itself(shop: RelyingParty, world: World) -> None:
    insert_verified(world, shop.organization_id)

    described = (await world.client.get(METADATA, headers=THERE)).json

    assert (described["resource"], described["authorization_servers"]) == (ISSUER_THERE, [ISSUER_THERE])
    assert (await world.client.get(METADATA, headers={"Host": "unknown.example"})).status == 404


async def test_each_audience_of_a_service_is_described_at_a_path(shop: RelyingParty, world: World) -> None:
    audiences = (
        API,
        "https://api.shop.example/",
        "https://api.shop.example",
        "https://api.shop.example:8443/v1?of=one",
    )
    claim_audiences(shop, *audiences)

    for audience in audiences:
        described = await world.client.get(f"{METADATA}/{audience.removeprefix('https://')}")

        assert described.json == {
            "resource": audience,
            "authorization_servers": [BASE_URL],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": described.json["dpop_signing_alg_values_supported"],
        }
    for path in ("api.shop.example/v2", "api.shop.example/v1/", "api.shop.example/v1?x=1", API, "", "x\0"):
        assert (await world.client.get(f"{METADATA}/{path.replace(chr(0), '%00')}")).status == 404, path


async def test_an_audience_is_described_by_its_organization_alone(shop: RelyingParty, world: World) -> None:
    insert_verified(world, shop.organization_id)
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    claim_audiences(shop, API, f"http://{DOMAIN}:8000/orders")
    claim_audiences(other, "https://api.evil.example")

    own = await world.client.get(f"{METADATA}/api.shop.example/v1", headers=THERE)
    by_path = await world.client.get(f"{METADATA}/orders", headers=THERE)
    of_other = await world.client.get(f"{METADATA}/api.evil.example", headers=THERE)
    world.set_organization_status(shop.organization_id, "suspended")
    suspended = await world.client.get(f"{METADATA}/api.shop.example/v1")

    assert (own.json["resource"], own.json["authorization_servers"]) == (API, [ISSUER_THERE])
    assert by_path.json["resource"] == f"{ISSUER_THERE}/orders"
    assert (of_other.status, suspended.status) == (404, 404)
    assert (await world.client.get(f"{METADATA}/api.evil.example")).status == 200


@pytest.mark.parametrize("resource", [BASE_URL, f"{BASE_URL}/"])
async def test_naming_our_own_interface_is_naming_none(
    shop: RelyingParty, app: RelyingParty, world: World, resource: str
) -> None:
    shop.set(audiences=[API])

    back = await sign_in(Visitor(world.client), shop, resource=resource)
    tokens = (await shop.redeem(back["code"], resource=resource)).json
    own = (await shop.token("client_credentials", resource=resource)).json
    pushed = await shop.post(
        "/auth/par", {"response_type": "code", "redirect_uri": REDIRECT_URI, "resource": resource, **PKCE}
    )
    device = await app.post("/auth/device/code", {"resource": resource})
    foreign = await shop.token("client_credentials", resource=f"{BASE_URL}/api")

    for token in (tokens, own):
        assert claims_of(token["access_token"])["aud"] == str(shop.client_id)
    assert (pushed.status, device.status) == (201, 200)
    assert foreign.json["error"] == "invalid_target"
    assert (await world.client.get("/api/user", token=tokens["access_token"])).status == 200


async def test_a_code_for_our_own_interface_gives_no_token_of_an_audience(shop: RelyingParty) -> None:
    shop.set(audiences=[API])

    refused = await shop.redeem(await shop.code(), resource=API)

    assert (refused.status, refused.json["error"]) == (400, "invalid_target")
