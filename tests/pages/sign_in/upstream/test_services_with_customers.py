"""Sign-ins that a service with customers begins: at the platform's providers, and by the connections of others."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.upstream_provider import Account
from tests.world.authorization import address_of, led_back, push
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.upstream import Upstream, parameters_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ADA = "ada@acme.example"
ALLOW = "/auth/authorize/allow"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of a vendor that has customers."""
    party = insert_relying_party(world, "mobile", slug="vendor")
    world.serve_customers(_service(party), "editor")
    return party


def _service(party: RelyingParty) -> Service:
    return Service(id=party.service_id, client_id=party.client_id)


def _customer(world: World, party: RelyingParty, slug: str, email: str = EMAIL, **settings: Any) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(email))
    return world.customer(_service(party), organization_id, **settings)


def _path(start: str = "/auth/codehost", **others: str) -> str:
    given = {"org": "vendor", "service": "shop", "redirect_uri": REDIRECT_URI, "state": "s-1", **PKCE, **others}
    return f"{start}?{urlencode(given)}"


async def _agreed(browser: Visitor, page: Answer, **chosen: str) -> Answer:
    """Agree to what is asked, and return what leads back to the service."""
    if page.status == 200 and any(form.action == ALLOW for form in forms_of(page)):
        return await browser.submit(page, ALLOW, chosen)
    return page


async def _claims(party: RelyingParty, answer: Answer) -> dict[str, Any]:
    return claims_of((await party.redeem(led_back(answer)["code"])).json["access_token"])


async def _known(upstream: Upstream) -> None:
    """Let a person sign up at a provider of the platform, and close the browser."""
    await upstream.sign_in()
    upstream.visitor.cookies.clear()


async def test_a_provider_of_the_platform_signs_in_for_the_customer_that_is_named(
    shop: RelyingParty, upstream: Upstream, world: World
) -> None:
    await _known(upstream)
    globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")

    asked = await upstream.sign_in(_path(customer="initech"))
    first = await _claims(shop, await _agreed(upstream.visitor, asked))
    upstream.visitor.cookies.clear()
    by_id = await _agreed(upstream.visitor, await upstream.sign_in(_path(customer=str(globex))))

    assert "Initech" in asked.text
    assert not shows(asked.text, "Globex")
    assert (first["customer_id"], led_back(by_id)["state"]) == (str(initech), "s-1")
    assert (await _claims(shop, by_id))["customer"] == "globex"


async def test_without_a_name_the_only_customer_is_taken_and_several_are_asked_for(
    shop: RelyingParty, upstream: Upstream, world: World
) -> None:
    await _known(upstream)
    globex = _customer(world, shop, "globex")
    only = await _claims(shop, await _agreed(upstream.visitor, await upstream.sign_in(_path())))
    initech = _customer(world, shop, "initech")
    upstream.visitor.cookies.clear()

    chooser = await upstream.sign_in(_path())
    chosen = await _claims(shop, await _agreed(upstream.visitor, chooser, customer=str(initech)))

    assert only["customer_id"] == str(globex)
    assert {"Globex", "Initech"} <= set(chooser.text.replace("<", " ").replace(">", " ").split())
    assert chosen["customer_id"] == str(initech)


@pytest.mark.parametrize("named", ["nowhere", "initech", "paused", "0191d3c1-0000-7000-8000-00000000000f"])
async def test_what_is_not_open_is_alike_after_a_provider(
    shop: RelyingParty, upstream: Upstream, world: World, named: str
) -> None:
    await _known(upstream)
    _customer(world, shop, "globex")
    _customer(world, shop, "paused", paused_by=["vendor"])
    world.customer(_service(shop), world.organization("initech"))

    page = await upstream.sign_in(_path(customer=named))

    assert "You cannot use this application for that customer" in page.text


async def test_a_person_without_a_customer_comes_as_an_individual(
    shop: RelyingParty, upstream: Upstream, world: World
) -> None:
    first = await _claims(shop, await _agreed(upstream.visitor, await upstream.sign_in(_path(customer=""))))

    assert "customer_id" not in first
    assert world.value("SELECT count(*) FROM service_users") == 1


async def test_a_customer_without_its_service_and_a_long_one_are_invalid(
    shop: RelyingParty, upstream: Upstream, acme: Acme
) -> None:
    at_connection = f"/auth/upstream?connection_id={acme.connection_id}"

    for path in (
        "/auth/codehost?customer=globex",
        "/auth/codehost?org=vendor&customer=",
        _path(customer="g" * 101),
        f"{at_connection}&customer=globex",
    ):
        answer = await upstream.visitor.send("GET", path)
        assert answer.status == 400, path
    assert upstream.stand_in.requests == []


async def test_the_connection_of_a_customer_begins_at_its_own_address(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    customer_id = world.customer(_service(shop), acme.organization_id)
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    begun = await visitor.send("GET", _path("/auth/upstream", connection_id=acme.connection_id))

    asked = await visitor.open(acme.provider.sign_in(begun.headers["Location"]))
    claims = await _claims(shop, await _agreed(visitor, asked))

    assert (claims["customer"], claims["customer_id"]) == ("acme", str(customer_id))
    assert world.rows("SELECT DISTINCT confined_to FROM sessions WHERE service_id IS NOT NULL") == [
        (acme.organization_id,)
    ]
    assert (await visitor.send("GET", "/app/organizations/acme")).status == 200
    # The session does not go to the pages of the vendor: its user is asked to sign in for them.
    of_vendor = await visitor.send("GET", "/app/organizations/vendor")
    assert (of_vendor.status, of_vendor.headers["Location"].partition("?")[0]) == (303, "/app/sign-in")


async def test_a_connection_leads_to_services_with_customers_and_tells_nothing_before_the_sign_in(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.service(world.organization("other"), "plain", redirect_uris=[REDIRECT_URI])
    suspended = world.organization("gone", status="suspended")
    world.serve_customers(world.service(suspended, "shop", redirect_uris=[REDIRECT_URI]))

    async def begun(**changes: str) -> Answer:
        return await visitor.send("GET", _path("/auth/upstream", connection_id=acme.connection_id, **changes))

    without = await begun()
    world.customer(_service(shop), acme.organization_id, hidden=True)
    with_record = await begun()
    refused = [
        await begun(**changes)
        for changes in (
            {"org": "other", "service": "plain"},
            {"org": "unknown"},
            {"service": "unknown"},
            {"org": "gone"},
        )
    ]

    for answer in (without, with_record):
        assert answer.status == 303
        assert set(parse_qs(urlsplit(answer.headers["Location"]).query)) == set(
            parse_qs(urlsplit(without.headers["Location"]).query)
        )
    assert [answer.status for answer in refused] == [404] * 4


async def test_a_connection_whose_organization_is_no_customer_opens_the_service_for_none(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    begun = await visitor.send("GET", _path("/auth/upstream", connection_id=acme.connection_id))

    page = await visitor.open(acme.provider.sign_in(begun.headers["Location"]))

    assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"], page.text
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0


async def test_an_address_of_a_provider_is_linked_to_the_account_and_not_by_the_word_of_the_service(
    shop: RelyingParty, upstream: Upstream, world: World
) -> None:
    world.user(EMAIL)
    customer_id = _customer(world, shop, "globex")

    asked = await upstream.sign_in(_path(), Account())
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email=EMAIL)
    page = await upstream.visitor.submit(methods, "/app/sign-in/password", password="correct horse battery")
    claims = await _claims(shop, await _agreed(upstream.visitor, page))

    assert claims["customer_id"] == str(customer_id)
    assert world.rows("SELECT organization_id, service_id FROM identities") == [(None, None)]


async def test_the_id_of_a_customer_leads_to_its_only_connection_and_no_slug_does(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await acme.change(joins_as="member")
    # No slug leads to the customer of a hidden product; only the service knows its id.
    customer_id = world.customer(_service(shop), acme.organization_id, hidden=True)
    paused = world.customer(_service(shop), world.organization("paused"), paused_by=["customer"])
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}

    by_id = await visitor.send("GET", address_of(shop, customer=str(customer_id)))
    pushed = await Visitor(world.client).send("GET", await push(shop, customer=str(customer_id)))
    others = [
        await Visitor(world.client).open(address_of(shop, **named))
        for named in (
            {"customer": "acme"},
            {"customer": "nowhere"},
            {"customer": str(paused)},
            {"customer": str(shop.service_id)},
            {"customer": str(customer_id), "prompt": "select_account"},
        )
    ]
    at_provider = await visitor.send("GET", by_id.headers["Location"])
    asked = await visitor.open(acme.provider.sign_in(at_provider.headers["Location"]))
    claims = await _claims(shop, await _agreed(visitor, asked))

    for answer in (by_id, pushed):
        assert answer.headers["Location"].startswith("/auth/upstream?")
        assert acme.connection_id in answer.headers["Location"]
    assert claims["customer_id"] == str(customer_id)
    for page in others:
        assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"]
        assert re.sub(r"[\w-]{43,}", "", page.text) == re.sub(r"[\w-]{43,}", "", others[0].text)


async def test_a_customer_with_several_connections_is_led_to_none_and_a_disabled_one_does_not_count(
    acme: Acme, shop: RelyingParty, world: World
) -> None:
    customer_id = world.customer(_service(shop), acme.organization_id)
    path = address_of(shop, customer=str(customer_id))
    another = {"type": "oidc", "name": "Other", "issuer": acme.provider.url, "client_id": "x", "client_secret": "y"}
    added = await acme.owner.post(CONNECTIONS, {**another, "enabled": True})
    assert added.status == 200, added.text

    several = await Visitor(world.client).send("GET", path)
    await acme.change(enabled=False)
    only = await Visitor(world.client).send("GET", path)

    assert several.headers["Location"].startswith("/app/sign-in?")
    assert added.json["id"] in only.headers["Location"]


async def test_a_refusal_at_the_connection_leads_back_to_other_ways(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user(EMAIL)
    world.member(acme.organization_id, world.user_id(EMAIL))
    customer_id = world.customer(_service(shop), acme.organization_id)
    led = await visitor.send("GET", address_of(shop, customer=str(customer_id)))
    at_provider = await visitor.send("GET", led.headers["Location"])
    state = parameters_of(at_provider.headers["Location"])["state"]

    refused = await visitor.open(f"/auth/upstream/callback?state={state}&error=access_denied&iss={acme.provider.url}")
    again = await visitor.follow(refused, "/app/sign-in")
    methods = await visitor.submit(again, "/app/sign-in", email=EMAIL)
    page = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    claims = await _claims(shop, await _agreed(visitor, page))

    assert refused.status == 403
    assert claims["customer_id"] == str(customer_id)


async def _by_connection_of_strict_acme(acme: Acme, shop: RelyingParty, world: World, *, trusts: bool) -> Answer:
    """Sign in by the connection of Acme, which requires a second factor of its members."""
    await acme.change(joins_as="member", trust_mfa=trusts)
    world.customer(_service(shop), acme.organization_id)
    world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'acme'")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    browser = Visitor(world.client)
    begun = await browser.send("GET", _path("/auth/upstream", connection_id=acme.connection_id))
    return await _agreed(browser, await browser.open(acme.provider.sign_in(begun.headers["Location"])))


async def test_a_trusted_connection_is_the_second_factor_that_its_own_organization_requires(
    acme: Acme, shop: RelyingParty, world: World
) -> None:
    claims = await _claims(shop, await _by_connection_of_strict_acme(acme, shop, world, trusts=True))

    assert (claims["customer"], "mfa" in claims["amr"]) == ("acme", True)


async def test_a_connection_that_is_not_trusted_leads_to_the_code_before_a_factor_is_set_up(
    acme: Acme, shop: RelyingParty, world: World
) -> None:
    page = await _by_connection_of_strict_acme(acme, shop, world, trusts=False)

    assert any(form.action == "/app/sign-in/code" for form in forms_of(page)), page.text
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0


async def test_a_provider_of_the_platform_never_is_the_second_factor_of_a_customer(
    shop: RelyingParty, upstream: Upstream, world: World
) -> None:
    await _known(upstream)
    _customer(world, shop, "globex")
    world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'globex'")

    page = await _agreed(upstream.visitor, await upstream.sign_in(_path(customer="globex")))

    assert "second factor" in page.text.lower()
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0
