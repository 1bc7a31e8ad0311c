"""A device of a service with customers: the user who approves it says for which one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.openid import device as device_codes
from tests.application import Answer
from tests.world.builder import EMAIL, Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

APPROVE = "/auth/device/approve"


@pytest.fixture
def app(world: World) -> RelyingParty:
    """An app of a vendor, which has customers, and a user."""
    world.user(EMAIL)
    party = insert_relying_party(world, slug="vendor")
    world.serve_customers(_service(party), "editor")
    return party


def _service(party: RelyingParty) -> Service:
    return Service(id=party.service_id, client_id=party.client_id)


def _customer(world: World, party: RelyingParty, slug: str, *, is_confirmed: bool = True, **settings: Any) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(EMAIL), is_confirmed=is_confirmed)
    return world.customer(_service(party), organization_id, **settings)


async def _begin(app: RelyingParty, **named: str) -> dict[str, Any]:
    return (await app.post("/auth/device/code", {"scope": "openid", **named})).json


async def _open(visitor: Visitor, device: dict[str, Any]) -> Answer:
    path = device["verification_uri_complete"].removeprefix("http://localhost:8000")
    return await (visitor.open(path) if visitor.has_session else visitor.sign_in(path=path))


async def _claims(app: RelyingParty, device: dict[str, Any]) -> dict[str, Any]:
    tokens = await app.token(device_codes.GRANT_TYPE, device_code=device["device_code"])
    return claims_of(tokens.json["access_token"])


def _choices(page: Answer) -> list[str | None]:
    return [form.fields.get("customer") for form in forms_of(page) if form.action == APPROVE]


async def test_the_first_use_is_asked_and_the_next_one_shown(app: RelyingParty, visitor: Visitor, world: World) -> None:
    customer_id = _customer(world, app, "globex", is_confirmed=False)
    first, second = await _begin(app, customer="globex"), await _begin(app)

    asked = await _open(visitor, first)
    done = await visitor.submit(asked, APPROVE)
    shown = await _open(visitor, second)
    await visitor.submit(shown, APPROVE)

    assert "Continue for Globex" in asked.text
    assert "Globex has added you" in asked.text
    assert "The device is signed in" in done.text
    assert "You use it for <strong>Globex</strong>" in shown.text
    for device in (first, second):
        assert (await _claims(app, device))["customer_id"] == str(customer_id)
    assert world.value("SELECT confirmed_at IS NOT NULL FROM memberships")


@pytest.mark.parametrize("individuals", ["all", "none"])
async def test_who_comes_for_a_customer_reads_nothing_of_a_membership_of_the_vendor(
    app: RelyingParty, visitor: Visitor, world: World, individuals: str
) -> None:
    app.set(individuals=individuals)
    _customer(world, app, "globex")
    _customer(world, app, "initech")
    world.member(app.organization_id, world.user_id(EMAIL), is_confirmed=False)
    named, unnamed = await _begin(app, customer="globex"), await _begin(app)
    says = "<strong>Vendor</strong> has added you"

    asked = await _open(visitor, named)
    await visitor.submit(asked, APPROVE)
    shown = await _open(visitor, await _begin(app, customer="globex"))
    undecided = await _open(visitor, unnamed)

    assert says not in asked.text
    assert says not in shown.text
    assert (says in undecided.text) == ("" in _choices(undecided))


async def test_several_are_asked_each_time_and_a_device_may_name_one(
    app: RelyingParty, visitor: Visitor, world: World
) -> None:
    app.set(individuals="all")
    globex, initech = _customer(world, app, "globex"), _customer(world, app, "initech")
    unnamed, named, alone = await _begin(app), await _begin(app, customer=str(globex)), await _begin(app, customer="")

    asked = await _open(visitor, unnamed)
    unchosen = await visitor.post(APPROVE, {**forms_of(asked)[0].fields, "customer": "nowhere"})
    await visitor.post(APPROVE, {**forms_of(asked)[0].fields, "customer": str(initech)})
    await visitor.submit(await _open(visitor, named), APPROVE)
    # In a form of OAuth an empty parameter counts as left out.
    await visitor.submit(await _open(visitor, alone), APPROVE, customer="")

    assert set(_choices(asked)) == {str(globex), str(initech), ""}
    assert (unchosen.status, "for that customer" in unchosen.text) == (403, True)
    assert (await _claims(app, unnamed))["customer_id"] == str(initech)
    assert (await _claims(app, named))["customer_id"] == str(globex)
    assert "customer" not in await _claims(app, alone)


async def test_an_approval_without_an_answer_is_asked(app: RelyingParty, visitor: Visitor, world: World) -> None:
    _customer(world, app, "globex")
    device = await _begin(app)
    asked = await _open(visitor, device)
    fields = {name: value for name, value in forms_of(asked)[0].fields.items() if name != "customer"}

    again = await visitor.post(APPROVE, fields)

    assert _choices(again) == _choices(asked)
    waiting = await app.token(device_codes.GRANT_TYPE, device_code=device["device_code"])
    assert waiting.json["error"] == "authorization_pending"


@pytest.mark.parametrize("named", ["nowhere", "paused", "0191d3c1-0000-7000-8000-00000000000f"])
async def test_what_is_not_open_is_refused_on_a_page_and_the_device_can_be_denied(
    app: RelyingParty, visitor: Visitor, world: World, named: str
) -> None:
    _customer(world, app, "globex")
    _customer(world, app, "paused", paused_by=["customer"])
    device = await _begin(app, customer=named)

    page = await _open(visitor, device)
    denied = await visitor.submit(page, "/auth/device/deny")

    assert "You cannot use this application for that customer" in page.text
    assert _choices(page) == []
    assert "The device is not signed in" in denied.text


async def test_a_user_of_no_customer_reads_whom_to_ask(app: RelyingParty, visitor: Visitor, world: World) -> None:
    world.serve_customers(_service(app), individuals="none")
    app.set(customers="any")

    page = await _open(visitor, await _begin(app))

    assert "or create an organization that uses it" in page.text
    assert 'href="/app/organizations/new"' in page.text


async def test_what_the_user_code_stands_for_says_nothing_of_customers(
    app: RelyingParty, visitor: Visitor, world: World
) -> None:
    _customer(world, app, "globex")
    device = await _begin(app, customer="globex")

    verified = await app.post("/auth/device/verify", {"user_code": device["user_code"]})

    assert set(verified.json) == {"org_slug", "service_slug", "available_providers"}
    assert (await app.post("/auth/device/code", {"customer": "g" * 101})).status == 400


async def test_a_service_without_customers_ignores_the_name(visitor: Visitor, world: World) -> None:
    world.user(EMAIL)
    party = insert_relying_party(world, slug="vendor")
    device = await _begin(party, customer="globex")

    await visitor.submit(await _open(visitor, device), APPROVE)

    assert "customer" not in await _claims(party, device)
