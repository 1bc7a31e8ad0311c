"""The connection of an organization signs in to a service for that organization as a customer, and for no other."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.openid import device as device_codes
from tests.application import Answer
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back
from tests.world.builder import PASSWORD_HASH, Service
from tests.world.openid_acme import Acme
from tests.world.relying_party import REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ADA = "ada@acme.example"
ALLOW = "/auth/authorize/allow"
HOPS_MAX = 10


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of a vendor that has customers."""
    party = insert_relying_party(world, slug="vendor")
    world.serve_customers(Service(id=party.service_id, client_id=party.client_id), "editor")
    return party


def _customer(world: World, party: RelyingParty, organization_id: UUID, **settings: Any) -> UUID:
    return world.customer(Service(id=party.service_id, client_id=party.client_id), organization_id, **settings)


async def _go(acme: Acme, browser: Visitor, answer: Answer) -> Answer:
    """Follow an answer as a browser does, also through the provider, and agree to what is asked."""
    for _ in range(HOPS_MAX):
        if any(form.action == ALLOW for form in forms_of(answer)):
            answer = await browser.submit(answer, ALLOW, is_followed=False)
        location = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
        if not location or location.startswith(REDIRECT_URI):
            return answer
        if location.startswith(acme.provider.url):
            acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
            location = acme.provider.sign_in(location)
        answer = await browser.send("GET", location.removeprefix("http://localhost:8000"))
    raise AssertionError("the browser was led in a circle")


async def _claims(party: RelyingParty, answer: Answer) -> dict[str, Any]:
    return claims_of((await party.redeem(led_back(answer)["code"])).json["access_token"])


async def test_the_address_leads_to_the_connection_of_the_customer(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    asked = await visitor.open(address_of(shop))
    before = await visitor.submit(asked, "/app/sign-in", email=ADA)
    customer_id = _customer(world, shop, acme.organization_id)

    methods = await visitor.submit(asked, "/app/sign-in", email=ADA)
    [link] = [part.split('"')[0] for part in methods.text.split('href="')[1:] if part.startswith("/auth/upstream")]
    answer = await _go(acme, visitor, await visitor.send("GET", link.replace("&amp;", "&")))
    claims = await _claims(shop, answer)

    assert "/auth/upstream" not in before.text
    assert (claims["customer"], claims["customer_id"]) == ("acme", str(customer_id))
    [confined] = world.rows("SELECT DISTINCT confined_to, customer_id FROM sessions WHERE service_id IS NOT NULL")
    assert confined == (acme.organization_id, customer_id)


async def test_a_hidden_customer_shows_nothing_by_an_address(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, acme.organization_id, hidden=True)

    methods = await visitor.submit(await visitor.open(address_of(shop)), "/app/sign-in", email=ADA)
    looked_up = await world.client.post(
        "/api/auth/lookup-email", body={"email": ADA, "org_slug": "vendor", "service_slug": "shop"}
    )

    assert "/auth/upstream" not in methods.text
    assert looked_up.json["auth_method"] == "password"


async def test_a_password_leads_on_to_the_connection_that_the_customer_requires(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    ada = world.user(ADA)
    world.member(acme.organization_id, ada)
    _customer(world, shop, acme.organization_id)
    await acme.enforce()

    page = await visitor.sign_in(ADA, path=address_of(shop))
    answer = await _go(acme, visitor, page)
    # The identity is linked by signing in to the account once more, which the page asks for.
    assert not shows(answer.headers.get("Location") or "", "code")
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0


async def test_the_owner_is_exempt_at_home_and_not_at_the_service(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, acme.organization_id)
    await acme.enforce()

    page = await visitor.sign_in("owner@acme.example", path=address_of(shop))
    chosen = await visitor.submit(page, ALLOW, is_followed=False)

    assert chosen.headers["Location"].startswith("/auth/upstream?")
    assert (await visitor.open("/app/organizations/acme")).status == 200


async def test_a_session_by_the_connection_opens_the_service_for_its_customer_alone(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    await acme.sign_in()
    globex = world.organization("globex")
    world.member(globex, world.user_id(ADA))
    globex_customer = _customer(world, shop, globex)

    elsewhere = await _go(acme, visitor, await visitor.send("GET", address_of(shop)))
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none", customer=str(globex_customer))))
    customer_id = _customer(world, shop, acme.organization_id)
    here = await _claims(shop, await _go(acme, visitor, await visitor.send("GET", address_of(shop))))
    named = await _go(acme, visitor, await visitor.send("GET", address_of(shop, customer="globex")))

    for page in (elsewhere, named):
        assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"], page.text
    assert silent["error"] == "interaction_required"
    assert here["customer_id"] == str(customer_id)


async def test_the_vendors_own_connection_signs_in_for_no_customer(acme: Acme, visitor: Visitor, world: World) -> None:
    service = world.service(acme.organization_id, "shop", redirect_uris=[REDIRECT_URI])
    party = RelyingParty(world, acme.organization_id, service.id, service.client_id, "acme", "shop")
    party.set(service_type="mobile")
    world.serve_customers(service, individuals="none")
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    await acme.sign_in()
    globex = world.organization("globex")
    world.member(globex, world.user_id(ADA))
    world.customer(service, globex)

    named = await _go(acme, visitor, await visitor.send("GET", address_of(party, customer="globex")))
    alone = await _claims(party, await _go(acme, visitor, await visitor.send("GET", address_of(party) + "&customer=")))

    assert [form.action for form in forms_of(named)][:1] == ["/app/sign-in"], named.text
    assert "customer" not in alone


async def test_a_device_is_led_to_the_connection_that_its_customer_requires(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    await acme.sign_in()
    world.connection.execute("UPDATE users SET password_hash = %s WHERE email = %s", (PASSWORD_HASH, ADA))
    customer_id = _customer(world, shop, acme.organization_id)
    await acme.enforce()
    browser = Visitor(world.client)
    device = (await shop.post("/auth/device/code", {"scope": "openid"})).json
    path = device["verification_uri_complete"].removeprefix("http://localhost:8000")

    asked = await browser.sign_in(ADA, path=path)
    led = await browser.submit(asked, "/auth/device/approve", is_followed=False)
    again = await _go(acme, browser, led)
    await browser.submit(again, "/auth/device/approve")
    tokens = await shop.token(device_codes.GRANT_TYPE, device_code=device["device_code"])

    assert led.headers["Location"].startswith("/auth/upstream?")
    assert claims_of(tokens.json["access_token"])["customer_id"] == str(customer_id)


async def test_a_session_by_a_connection_that_does_not_go_to_the_customer_of_a_device_signs_in_anew(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    await acme.sign_in()
    globex = world.organization("globex")
    world.member(globex, world.user_id(ADA))
    _customer(world, shop, globex)
    device = (await shop.post("/auth/device/code", {"scope": "openid", "customer": "globex"})).json
    path = device["verification_uri_complete"].removeprefix("http://localhost:8000")

    page = await _go(acme, visitor, await visitor.send("GET", path))

    assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"], page.text


async def test_the_word_of_the_connection_alone_opens_no_role_there_that_it_does_not_open_at_home(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    customer_id = _customer(world, shop, acme.organization_id)
    world.assign(customer_id, "role:admin", "editor")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    await acme.sign_in()
    answer = await _go(acme, visitor, await visitor.send("GET", address_of(shop)))
    tokens = (await shop.redeem(led_back(answer)["code"])).json
    as_member = await world.client.get("/auth/userinfo", token=tokens["access_token"])

    world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (world.user_id(ADA),))
    as_admin = await world.client.get("/auth/userinfo", token=tokens["access_token"])
    refreshed = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])

    assert (as_member.status, as_member.json["customer_role"]) == (200, "member")
    assert as_admin.status == 403
    assert "Confirm your address" in refreshed.json["error_description"]
