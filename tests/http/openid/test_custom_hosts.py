"""Under the custom domain of an organization, its services have an issuer of their own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.openid import device as device_codes
from tests.world.authorization import address_of, led_back, sign_in
from tests.world.builder import EMAIL
from tests.world.domains import DOMAIN, insert_verified
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World

ISSUER = f"http://{DOMAIN}:8000"
THERE = {"Host": DOMAIN}


@pytest.fixture
def there(shop: RelyingParty, world: World) -> Visitor:
    """A browser under the custom domain of the shop's organization."""
    insert_verified(world, shop.organization_id)
    return browser_there(world)


def browser_there(world: World) -> Visitor:
    """Return a browser under the custom domain."""
    visitor = Visitor(world.client)
    visitor.headers["Host"] = DOMAIN
    return visitor


async def tokens_of(shop: RelyingParty, there: Visitor) -> dict[str, Any]:
    """Sign in under the custom domain, and return the tokens."""
    answer = await shop.redeem((await sign_in(there, shop))["code"], {**shop.basic, **THERE})
    assert answer.status == 200, answer.text
    return answer.json


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"])
async def test_discovery_names_the_custom_domain(there: Visitor, path: str) -> None:
    document = (await there.send("GET", path)).json

    assert document["issuer"] == ISSUER
    endpoints = [url for name, url in document.items() if name.endswith(("_endpoint", "_uri"))]
    assert all(url.startswith(f"{ISSUER}/") for url in endpoints)
    assert (await there.send("GET", "/.well-known/jwks.json")).json["keys"]


async def test_answers_and_tokens_name_the_custom_domain(shop: RelyingParty, there: Visitor) -> None:
    back = await sign_in(there, shop)
    tokens = (await shop.redeem(back["code"], {**shop.basic, **THERE})).json
    refreshed = (await shop.token("refresh_token", {**shop.basic, **THERE}, refresh_token=tokens["refresh_token"])).json
    own = (await shop.token("client_credentials", {**shop.basic, **THERE})).json

    assert back["iss"] == ISSUER
    for token in (tokens["access_token"], tokens["id_token"], refreshed["access_token"], own["access_token"]):
        assert claims_of(token)["iss"] == ISSUER
    for token in (refreshed["access_token"], own["access_token"], refreshed["refresh_token"]):
        described = await shop.post("/auth/introspect", {"token": token}, {**shop.basic, **THERE})
        assert described.json["active"], described.text


async def test_what_was_issued_under_a_host_is_exchanged_there_only(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    elsewhere = await shop.redeem((await sign_in(browser_there(world), shop))["code"])
    other_way = await shop.redeem((await sign_in(Visitor(world.client), shop))["code"], {**shop.basic, **THERE})
    tokens, here = await tokens_of(shop, there), await shop.tokens()
    refreshed = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])
    other_refreshed = await shop.token("refresh_token", {**shop.basic, **THERE}, refresh_token=here["refresh_token"])

    for answer in (elsewhere, other_way, refreshed, other_refreshed):
        assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    described = (await shop.post("/auth/introspect", {"token": tokens["refresh_token"]})).json
    assert described == {"active": False}


async def test_a_token_of_a_custom_domain_opens_the_interface_for_its_own_organization(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    token = (await tokens_of(shop, there))["access_token"]
    own = await world.client.get("/api/user", token=token)
    user_info = await world.client.get("/auth/userinfo", token=token, headers=THERE)
    world.connection.execute("UPDATE custom_domains SET organization_id = %s", (world.organization("globex"),))
    foreign = await world.client.get("/api/user", token=token)
    world.connection.execute("DELETE FROM custom_domains")
    gone = await world.client.get("/api/user", token=token)

    assert (own.status, user_info.status, foreign.status, gone.status) == (200, 200, 401, 401)


async def test_a_token_of_the_base_url_opens_nothing_under_a_custom_domain(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    token = (await shop.tokens())["access_token"]

    assert (await world.client.get("/auth/userinfo", token=token, headers=THERE)).status == 401
    assert not there.has_session


async def test_the_cookie_of_a_custom_domain_opens_nothing_under_the_base_url(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    await sign_in(there, shop)
    taken = Visitor(world.client, cookies=dict(there.cookies))

    own, elsewhere = await there.send("GET", "/app"), await taken.send("GET", "/app")

    assert own.status == 200, own.text
    assert (elsewhere.status, elsewhere.headers["Location"]) == (303, "/app/sign-in?return_to=%2Fapp")


async def test_services_of_other_organizations_are_no_clients_there(there: Visitor, world: World) -> None:
    other = insert_relying_party(world, slug="globex", service_slug="blog")

    asked = await there.send("GET", address_of(other))
    answers = [
        await other.token("client_credentials", {**other.basic, **THERE}),
        await other.post("/auth/device/code", {}, {**other.basic, **THERE}),
        await other.post("/auth/par", {}, {**other.basic, **THERE}),
        await other.send("/auth/device/code", {"client_id": str(device_codes.COMMAND_LINE_CLIENT)}, THERE),
    ]

    assert asked.status == 400
    assert {(answer.status, answer.json["error"]) for answer in answers} == {(401, "invalid_client")}


async def test_a_user_code_is_good_under_the_host_where_its_device_began(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    device = (await shop.post("/auth/device/code", {"scope": "openid"}, {**shop.basic, **THERE})).json
    await there.sign_in(path="/app")
    asked = await there.open(device["verification_uri_complete"].removeprefix(ISSUER))
    await there.submit(asked, "/auth/device/approve")
    world.clock.advance(timedelta(seconds=5))

    grant = {"grant_type": device_codes.GRANT_TYPE, "device_code": device["device_code"]}
    elsewhere = await shop.post("/auth/token", grant)
    answer = await shop.post("/auth/token", grant, {**shop.basic, **THERE})

    assert device["verification_uri"] == f"{ISSUER}/auth/device"
    typed_elsewhere = await Visitor(world.client).open(f"/auth/device?user_code={device['user_code']}")
    assert typed_elsewhere.status == 404
    assert (elsewhere.status, elsewhere.json["error"]) == (400, "invalid_grant")
    assert claims_of(answer.json["id_token"])["iss"] == ISSUER


async def test_a_logout_under_a_host_takes_the_id_tokens_of_that_host(shop: RelyingParty, there: Visitor) -> None:
    here = await shop.tokens()
    tokens = await tokens_of(shop, there)

    asked = await there.send("GET", f"/auth/logout?id_token_hint={here['id_token']}")
    assert "/auth/logout/confirm" in asked.text
    await there.send("GET", f"/auth/logout?id_token_hint={tokens['id_token']}")

    assert shop.is_live(here)
    assert not shop.is_live(tokens)
    assert not there.has_session


async def test_giving_the_domain_up_ends_what_was_signed_in_to_from_there(
    shop: RelyingParty, there: Visitor, world: World
) -> None:
    owner = await world.signed_in_member(shop.organization_id, email="owner@example.com")
    tokens, here = await tokens_of(shop, there), await shop.tokens()

    assert (await owner.delete("/api/organizations/acme/domain")).status == 204
    assert (shop.is_live(tokens), shop.is_live(here)) == (False, True)


async def test_assertions_and_requests_are_pushed_under_the_custom_domain(shop: RelyingParty, there: Visitor) -> None:
    given = {"response_type": "code", "redirect_uri": "https://shop.example/callback", "scope": "openid"}
    pushed = await shop.post("/auth/par", given, {**shop.basic, **THERE})
    back = led_back(
        await there.sign_in(
            EMAIL, path=f"/auth/authorize?client_id={shop.client_id}&request_uri={pushed.json['request_uri']}"
        )
    )

    assert pushed.status == 201, pushed.text
    assert back["iss"] == ISSUER


async def test_no_account_is_created_there_and_a_sign_in_can_be_cancelled(shop: RelyingParty, there: Visitor) -> None:
    document = (await there.send("GET", "/.well-known/openid-configuration")).json
    page = await there.open(address_of(shop, prompt="create"))
    back = led_back(await there.submit(page, "/auth/authorize/cancel"))

    assert "create" not in document["prompt_values_supported"]
    assert "Sign in to Shop" in page.text
    assert (back["error"], back["iss"]) == ("access_denied", ISSUER)
