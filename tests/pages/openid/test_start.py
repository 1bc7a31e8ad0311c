"""The address of a tile leads to the page of the service that begins a sign-in (OpenID Connect Core, 4)."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.authorization import ISSUER, address_of, sign_in
from tests.world.builder import EMAIL, Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "https://shop.example/login"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of a vendor with customers, which has a page to begin at, and a user."""
    world.user(EMAIL)
    party = insert_relying_party(world, "mobile", slug="vendor")
    party.set(initiate_login_uri=PAGE)
    world.serve_customers(_service(party))
    return party


def _service(party: RelyingParty) -> Service:
    return Service(id=party.service_id, client_id=party.client_id)


def _customer(world: World, party: RelyingParty, slug: str, **settings: Any) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(EMAIL))
    return world.customer(_service(party), organization_id, **settings)


def _path(party: RelyingParty, query: str = "") -> str:
    return f"/auth/start/{party.client_id}{query}"


def _told(answer: Answer, page: str = PAGE) -> dict[str, str]:
    assert answer.status == 303, answer.text
    location = answer.headers["Location"]
    assert location.startswith(page), location
    return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))


async def test_a_tile_leads_to_the_page_of_the_service_with_what_it_names(shop: RelyingParty, visitor: Visitor) -> None:
    for customer in ("globex", "0191d3c1-0000-7000-8000-00000000000f", "", "a&b=c d#é", "x" * 100):
        answer = await visitor.send("GET", _path(shop, f"?customer={quote(customer)}"))
        assert _told(answer) == {"iss": ISSUER, "customer": customer}
    assert _told(await visitor.send("GET", _path(shop))) == {"iss": ISSUER}
    too_long = await visitor.send("GET", _path(shop, f"?customer={'x' * 101}"))
    assert too_long.status == 400


async def test_a_page_with_a_query_of_its_own_keeps_it(shop: RelyingParty, visitor: Visitor) -> None:
    shop.set(initiate_login_uri=f"{PAGE}?tenant=eu")

    assert _told(await visitor.send("GET", _path(shop))) == {"tenant": "eu", "iss": ISSUER}


async def test_the_answer_is_alike_whoever_is_a_customer(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    customer_id = _customer(world, shop, "globex")
    paused = _customer(world, shop, "initech", paused_by=["vendor"])
    await visitor.sign_in()

    for named in ("globex", "initech", "nowhere", str(customer_id), str(paused), str(shop.service_id)):
        assert _told(await visitor.send("GET", _path(shop, f"?customer={named}"))) == {"iss": ISSUER, "customer": named}


async def test_the_address_is_told_where_the_service_knows_it(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    globex = _customer(world, shop, "globex")
    page = await visitor.sign_in(path=address_of(shop))
    await visitor.submit(page, "/auth/authorize/allow")
    _customer(world, shop, "initech")

    by_id = _told(await visitor.send("GET", _path(shop, f"?customer={globex}")))
    others = [
        _told(await visitor.send("GET", _path(shop, f"?customer={named}"))) for named in ("initech", "nowhere", "")
    ]

    assert by_id == {"iss": ISSUER, "customer": str(globex), "login_hint": EMAIL}
    assert all("login_hint" not in told for told in others)


async def test_a_service_without_customers_is_told_the_address_of_its_users(visitor: Visitor, world: World) -> None:
    world.user(EMAIL)
    party = insert_relying_party(world, "mobile")
    party.set(initiate_login_uri=PAGE)
    other = insert_relying_party(world, "mobile", slug="other")
    other.set(initiate_login_uri="https://other.example/login")
    await sign_in(visitor, party)

    known = _told(await visitor.send("GET", _path(party)))
    stranger = _told(await visitor.send("GET", _path(other)), "https://other.example/login")

    assert known == {"iss": ISSUER, "login_hint": EMAIL}
    assert stranger == {"iss": ISSUER}


async def test_without_a_page_or_a_service_there_is_one_answer(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    without = insert_relying_party(world, slug="other")
    suspended = insert_relying_party(world, slug="gone")
    suspended.set(initiate_login_uri=PAGE)
    world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'gone'")

    answers = [
        await visitor.send("GET", f"/auth/start/{client_id}")
        for client_id in (without.client_id, suspended.client_id, shop.service_id)
    ]

    assert [answer.status for answer in answers] == [404] * 3
    for answer in answers:
        assert "This application has no page to begin at" in answer.text
