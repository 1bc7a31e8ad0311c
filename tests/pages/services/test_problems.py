"""The tab of a service with its troubles: in plain words, with what to do, and with "Add it"."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.relying_party import RelyingParty
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

SHOP = f"{CONSOLE}/shop"
PROBLEMS = f"{SHOP}/problems"
REFUSED = f"{SHOP}/redirect-uris/refused"
OTHER = "https://shop.example/other"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    return team


@pytest.fixture
def party(world: World, people: Team) -> RelyingParty:
    """A service of the organization, which knows no right secret."""
    service = shop_of(world, people)
    return RelyingParty(world, people.organization_id, service.id, service.client_id, secret="wrong")


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def authorize(party: RelyingParty, **parameters: str) -> None:
    """Bring a request of a stranger."""
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    await Visitor(party.world.client).send("GET", f"/auth/authorize?client_id={party.client_id}&{query}")


async def test_without_a_trouble_the_page_says_so(party: RelyingParty, ann: Visitor) -> None:
    page = await ann.follow(await ann.open(SHOP), PROBLEMS)

    assert "No request in the name of this service was refused lately." in page.text


async def test_a_wrong_secret_is_named_with_what_to_do(party: RelyingParty, ann: Visitor) -> None:
    await party.token("client_credentials")

    page = await ann.open(PROBLEMS)

    assert "The application did not prove who it is" in page.text
    assert "Enter the client secret again" in page.text
    assert "127.0.0.1" in page.text
    assert "<code>client_secret_basic</code>" in page.text


async def test_an_address_that_is_not_registered_is_added_from_there(party: RelyingParty, ann: Visitor) -> None:
    await authorize(party, redirect_uri=OTHER)

    page = await ann.open(PROBLEMS)
    assert f"<code>{OTHER}</code>" in page.text
    assert "<code>https://shop.example/callback</code>" in page.text
    asked = await ann.follow(page, REFUSED)
    added = await ann.submit(asked, REFUSED)

    assert "The redirect URI is added." in added.text
    assert "This address is registered by now." in (await ann.open(PROBLEMS)).text


async def test_an_address_at_another_host_is_typed(party: RelyingParty, ann: Visitor) -> None:
    await authorize(party, redirect_uri="https://evil.example/")

    page = await ann.open(PROBLEMS)

    assert "a press does not add it" in page.text
    assert f'href="{REFUSED}' not in page.text


async def test_an_address_after_a_logout_is_named(party: RelyingParty, ann: Visitor) -> None:
    address = f"/auth/logout?client_id={party.client_id}&post_logout_redirect_uri={quote(OTHER, safe='')}"
    await Visitor(party.world.client).send("GET", address)

    page = await ann.open(PROBLEMS)

    assert "one where users go after signing out" in page.text
    assert OTHER in page.text
    party.set(post_logout_redirect_uris=[OTHER])
    assert "This address is registered by now." in (await ann.open(PROBLEMS)).text


async def test_each_trouble_says_what_to_do(party: RelyingParty, ann: Visitor) -> None:
    registered = {"redirect_uri": "https://shop.example/callback"}
    plain = {"response_type": "code", "code_challenge": "x" * 43, "code_challenge_method": "plain"}

    for parameters, words in (
        ({}, "Enter a redirect URI in the settings"),
        (registered | {"response_type": "token"}, "authorization code flow"),
        (registered | plain, "Choose S256 in the settings"),
    ):
        before = await ann.open(PROBLEMS)
        await authorize(party, **parameters)

        assert words not in before.text
        assert words in (await ann.open(PROBLEMS)).text


async def test_who_does_not_manage_the_service_is_refused(party: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    assert (await visitor.open(PROBLEMS)).status == 403
