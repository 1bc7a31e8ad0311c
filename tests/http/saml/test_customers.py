"""A sign-in by JSON for a service provider of a service with customers: `saml_state`, the ticket, and the customer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.service_provider import PostedForm, posted_form
from tests.world.builder import EMAIL, Service
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}


@pytest.fixture
async def shop(saml: SamlWorld, team: Team, world: World) -> SamlService:
    """A service with customers, and a user who is nothing to its vendor."""
    world.user(EMAIL)
    made = await saml.service(team.organization_id, "acme", attribute_mapping={"customer.slug": "tenant"})
    world.serve_customers(Service(id=made.service_id, client_id=made.service_id))
    return made


def _customer(world: World, shop: SamlService, slug: str, **settings: Any) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(EMAIL))
    return world.customer(Service(id=shop.service_id, client_id=shop.service_id), organization_id, **settings)


async def _state(visitor: Visitor, shop: SamlService, customer: str | None = None) -> str:
    """Return the state of a request that the browser has brought, whose address may name a customer."""
    named = f"&customer={customer}" if customer is not None else ""
    answer = await visitor.send("GET", f"{shop.sso(relay_state='r')}{named}")
    return parse_qs(urlsplit(answer.headers["Location"]).query)["saml_state"][0]


async def _follow(visitor: Visitor, answer: Answer) -> Answer:
    """Open the address that leads back to the service provider."""
    assert answer.status == 200, answer.text
    return await visitor.send("GET", answer.json["saml_redirect_url"].removeprefix(BASE_URL))


async def _choose(world: World, asked: Answer, customer: object, state: str) -> Answer:
    assert_refused(asked, 409, "CUSTOMER_REQUIRED")
    body = {"customer_token": asked.json["customer_token"], "customer": customer, "saml_state": state}
    return await world.client.post("/api/auth/customer", body=body)


def _tenant(form: PostedForm) -> list[str]:
    return form.texts("//saml:Attribute[@Name='tenant']/saml:AttributeValue/text()")


async def test_the_customer_that_is_chosen_by_json_gets_the_assertion(
    shop: SamlService, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    initech = _customer(world, shop, "initech")
    state = await _state(visitor, shop)

    asked = await world.log_in(EMAIL, **AT_SHOP, saml_state=state)
    chosen = await _choose(world, asked, str(initech), state)
    form = posted_form((await _follow(visitor, chosen)).text)

    assert (form.statuses, form.fields["RelayState"], _tenant(form)) == (["Success"], "r", ["initech"])


async def test_a_customer_that_is_named_by_json_gets_the_assertion(
    shop: SamlService, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    _customer(world, shop, "initech")

    signed_in = await world.log_in(EMAIL, **AT_SHOP, customer="initech", saml_state=await _state(visitor, shop))

    assert _tenant(posted_form((await _follow(visitor, signed_in)).text)) == ["initech"]


async def test_a_sign_in_for_a_request_that_names_a_customer_is_for_it(
    shop: SamlService, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    initech = _customer(world, shop, "initech")

    state = await _state(visitor, shop, "initech")
    asked = await world.log_in(EMAIL, **AT_SHOP, saml_state=state)
    first = posted_form((await _follow(visitor, await _choose(world, asked, str(initech), state))).text)
    signed_in = await world.log_in(EMAIL, **AT_SHOP, saml_state=await _state(visitor, shop, "initech"))
    second = posted_form((await _follow(visitor, signed_in)).text)

    # A stranger may have sent the user to an address with the customer's name, so a page asks the first time.
    assert [one["slug"] for one in asked.json["customers"]] == ["initech"]
    assert [_tenant(one) for one in (first, second)] == [["initech"], ["initech"]]


@pytest.mark.parametrize("named", ["nowhere", "paused"])
async def test_a_request_for_a_customer_that_is_not_open_is_refused_alike(
    shop: SamlService, visitor: Visitor, world: World, named: str
) -> None:
    _customer(world, shop, "paused", paused_by=["vendor"])

    refused = await world.log_in(EMAIL, **AT_SHOP, saml_state=await _state(visitor, shop, named))
    elsewhere = await world.log_in(EMAIL, saml_state=await _state(visitor, shop, named))
    form = posted_form((await _follow(visitor, elsewhere)).text)

    assert_refused(refused, 403, "FORBIDDEN")
    assert "for that customer" in refused.text
    assert form.statuses == ["Responder", "RequestDenied"]


async def test_a_sign_in_without_the_service_is_asked_in_the_browser_and_the_ticket_lasts_with_the_request(
    shop: SamlService, visitor: Visitor, world: World, clock: SettableClock
) -> None:
    globex = _customer(world, shop, "globex")
    _customer(world, shop, "initech")
    path = f"{shop.path}/authenticate/customer"
    signed_in = await world.log_in(EMAIL, saml_state=await _state(visitor, shop))

    page = await _follow(visitor, signed_in)
    [form] = [one for one in forms_of(page) if one.fields.get("customer") == str(globex)]
    clock.now += timedelta(minutes=5)
    stranger = Visitor(visitor.client)
    stolen = await stranger.submit(page, path, {"customer": str(globex)})
    answered = await visitor.submit(page, path, {"customer": str(globex)})
    again = await visitor.submit(page, path, {"customer": str(globex)})

    assert form.fields["ticket"]
    assert _tenant(posted_form(answered.text)) == ["globex"]
    assert stolen.status in {400, 403}
    assert again.status == 400


async def test_a_sign_in_as_an_individual_stays_one(shop: SamlService, visitor: Visitor, world: World) -> None:
    world.connection.execute("UPDATE saml_configurations SET members_only = false")
    world.connection.execute("UPDATE services SET individuals = 'all'")
    _customer(world, shop, "globex")

    signed_in = await world.log_in(EMAIL, **AT_SHOP, customer="", saml_state=await _state(visitor, shop))
    form = posted_form((await _follow(visitor, signed_in)).text)

    assert (form.statuses, _tenant(form)) == (["Success"], [])


async def test_a_sign_in_at_another_service_says_nothing_of_the_customer(
    shop: SamlService, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    world.service(shop.organization_id, "blog")

    state = await _state(visitor, shop, "globex")
    signed_in = await world.log_in(EMAIL, org_slug="acme", service_slug="blog", saml_state=state)
    page = await _follow(visitor, signed_in)

    assert f"{shop.path}/authenticate/customer" in {one.action for one in forms_of(page)}
