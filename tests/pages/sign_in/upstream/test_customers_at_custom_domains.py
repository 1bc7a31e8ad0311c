"""At the custom domain of a vendor, customers' people come in for their organization, also by its connection."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.authorization import address_of, led_back
from tests.world.builder import Service
from tests.world.domains import BASE, DOMAIN, BrowserOfHosts, insert_verified
from tests.world.openid_acme import Acme
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import forms_of
from tests.world.world import World

ADA = "ada@acme.example"
BOB = "bob@acme.example"
ALLOW = "/auth/authorize/allow"
UPSTREAM = "/auth/upstream"


@pytest.fixture
def shop(acme: Acme, world: World) -> RelyingParty:
    """A service of a vendor with a custom domain, of which Acme with its member Ada is a customer."""
    world.member(acme.organization_id, world.user(ADA))
    party = insert_relying_party(world, "mobile", slug="vendor")
    insert_verified(world, party.organization_id)
    service = Service(id=party.service_id, client_id=party.client_id)
    world.serve_customers(service, "editor")
    world.customer(service, acme.organization_id)
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    return party


@pytest.fixture
def there(shop: RelyingParty, world: World) -> BrowserOfHosts:
    """A browser that opens the custom domain."""
    return BrowserOfHosts(world.client)


async def _agreed(browser: BrowserOfHosts, page: Answer) -> Answer:
    return await browser.submit(page, ALLOW) if any(form.action == ALLOW for form in forms_of(page)) else page


async def _claims(shop: RelyingParty, led: Answer) -> dict[str, Any]:
    tokens = (await shop.redeem(led_back(led)["code"], {"Host": DOMAIN})).json
    return claims_of(tokens["access_token"])


async def _returned(acme: Acme, there: BrowserOfHosts, departed: Answer) -> Answer:
    """Return the page to which the provider leads in the end."""
    assert departed.headers.get("Location", "").startswith(acme.provider.url), departed.text
    return await there.open(f"http://{BASE}:8000{acme.provider.sign_in(departed.headers['Location'])}")


async def _linked(there: BrowserOfHosts, page: Answer) -> Answer:
    """Sign in by password, to which an identity is linked that its provider has confirmed."""
    methods = await there.submit(page, "/app/sign-in", email=ADA)
    return await there.submit(methods, "/app/sign-in/password", password="correct horse battery")


async def test_members_come_in_for_their_organization(shop: RelyingParty, there: BrowserOfHosts) -> None:
    led = await _agreed(there, await there.sign_in(ADA, path=address_of(shop)))

    claims = await _claims(shop, led)
    assert (claims["customer"], claims["iss"]) == ("acme", f"http://{DOMAIN}:8000")


async def test_an_address_leads_to_its_connection_and_back_to_the_domain(
    acme: Acme, shop: RelyingParty, there: BrowserOfHosts, world: World
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "bob", "email": BOB, "email_verified": True}

    methods = await there.submit(await there.open(address_of(shop)), "/app/sign-in", email=BOB)
    led = await _agreed(there, await _returned(acme, there, await there.follow(methods, UPSTREAM)))

    claims = await _claims(shop, led)
    assert (claims["customer"], claims["iss"]) == ("acme", f"http://{DOMAIN}:8000")
    assert there.host == DOMAIN
    names = {host: any("session" in name for name in there.at(host)) for host in (BASE, DOMAIN)}
    assert names == {BASE: False, DOMAIN: True}
    assert world.value("SELECT count(*) FROM browser_sessions WHERE domain_id IS NOT NULL") == 1
    assert world.value("SELECT count(*) FROM browser_sessions") == 1


async def test_a_customer_by_its_id_leads_to_its_connection_and_an_account_is_linked_at_the_domain(
    acme: Acme, shop: RelyingParty, there: BrowserOfHosts, world: World
) -> None:
    customer_id: UUID = world.value("SELECT id FROM service_customers")

    asked = await _returned(acme, there, await there.open(address_of(shop, customer=str(customer_id))))
    led = await _agreed(there, await _linked(there, asked))

    assert (await _claims(shop, led))["customer_id"] == str(customer_id)
    assert acme.identities == 1
    assert acme.live_sessions > 0


async def test_who_has_to_come_by_a_connection_is_led_there_after_the_password(
    acme: Acme, shop: RelyingParty, there: BrowserOfHosts, world: World
) -> None:
    await acme.enforce()

    departed = await _agreed(there, await there.sign_in(ADA, path=address_of(shop)))
    asked = await _returned(acme, there, departed)
    led = await _agreed(there, await _linked(there, asked))

    assert (await _claims(shop, led))["customer"] == "acme"


async def test_a_connection_that_is_no_customer_s_leads_to_a_product_and_opens_it_for_nobody(
    acme: Acme, shop: RelyingParty, there: BrowserOfHosts, world: World
) -> None:
    world.connection.execute("DELETE FROM service_customers")
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "bob", "email": BOB, "email_verified": True}

    asked = await there.open(address_of(shop))
    assert asked.status == 200
    way = next(form.fields["return_id"] for form in forms_of(asked) if "return_id" in form.fields)
    departed = await there.open(f"{UPSTREAM}?connection_id={acme.connection_id}&return_id={way}")
    refused = await _returned(acme, there, departed)

    assert not any(form.action == ALLOW for form in forms_of(refused))
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0


async def test_a_session_by_the_connection_works_under_the_base_url_alone(
    acme: Acme, shop: RelyingParty, there: BrowserOfHosts
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "bob", "email": BOB, "email_verified": True}
    await acme.sign_in()
    there.at(DOMAIN).update(acme.visitor.cookies)

    at_base = await acme.visitor.open(address_of(shop))
    at_domain = await there.open(address_of(shop))

    assert any(form.action == ALLOW for form in forms_of(at_base))
    assert [form.action for form in forms_of(at_domain)][:1] == ["/app/sign-in"]
