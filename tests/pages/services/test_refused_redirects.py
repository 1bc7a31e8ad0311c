"""A redirect URI that was refused: shown with a warning, added or forgotten."""

from __future__ import annotations

import re
from datetime import timedelta
from html import escape
from urllib.parse import quote, urlencode
from uuid import UUID

import pytest

from tests.application import Answer
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

SHOP = f"{CONSOLE}/shop"
REFUSED = f"{SHOP}/redirect-uris/refused"
# At the host of the registered address.
OTHER = "https://shop.example:8443/callback?from=here"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    return team


@pytest.fixture
def client_id(world: World, people: Team) -> UUID:
    """The client id of a service."""
    return shop_of(world, people).client_id


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def refuse(world: World, client_id: UUID, redirect_uri: str) -> Answer:
    """Bring a request with a redirect URI that is not registered, as a stranger."""
    return await Visitor(world.client).send(
        "GET",
        f"/auth/authorize?response_type=code&client_id={client_id}&redirect_uri={quote(redirect_uri, safe='')}",
    )


def remembered(world: World) -> list[str]:
    """Return the redirect URIs that are remembered, the last one first."""
    text = "SELECT sent FROM client_problems ORDER BY noted_at DESC"
    return [uri for (uri,) in world.connection.execute(text).fetchall()]


def form_token(page: Answer) -> str:
    """Return the token of the forms of a page."""
    [token, *_] = re.findall('name="form_token" value="([^"]+)"', page.text)
    return token


def later(world: World) -> None:
    """Let a minute pass since the last refusal."""
    world.clock.advance(timedelta(minutes=1))


async def test_the_page_names_the_address_that_was_refused_last(world: World, client_id: UUID, ann: Visitor) -> None:
    answer = await refuse(world, client_id, OTHER)
    page = await ann.open(SHOP)

    assert answer.status == 400
    assert "not registered with the application" in answer.text
    assert "<strong>shop.example</strong>" in page.text
    assert f"<code>{OTHER}</code>" in page.text
    assert "Add the address only if it is yours." in page.text


async def test_the_refusal_shows_the_address_and_leads_to_the_setting_who_may_change_it(
    world: World, client_id: UUID, ann: Visitor
) -> None:
    world.user("stranger@example.com")
    stranger, nobody = Visitor(world.client), Visitor(world.client)
    await stranger.sign_in("stranger@example.com")
    hostile = "https://evil.example/<b>&x=1"
    setting = f'href="{SHOP}#redirect-uris"'

    for visitor, may_register in ((ann, True), (stranger, False), (nobody, False)):
        for address in (OTHER, hostile):
            query = urlencode({"response_type": "code", "client_id": str(client_id), "redirect_uri": address})
            page = await visitor.open(f"/auth/authorize?{query}")

            assert page.status == 400
            assert escape(address) in page.text
            assert hostile not in page.text
            assert (setting in page.text) == may_register
            assert ("You have done nothing wrong." in page.text) != may_register
    query = urlencode({"response_type": "code", "client_id": str(client_id)})
    assert "names no redirect_uri" in (await nobody.open(f"/auth/authorize?{query}")).text


async def test_what_is_no_whole_address_is_not_offered(world: World, client_id: UUID, ann: Visitor) -> None:
    for redirect_uri in (
        *("https://shop.example/<b>", "https://shop.example/" + "x" * 2000, "https://shop.example/?code=1", "a b", ""),
    ):
        assert (await refuse(world, client_id, redirect_uri)).status == 400, redirect_uri

        assert "A sign-in was refused" not in (await ann.open(SHOP)).text, redirect_uri
        assert (await ann.open(REFUSED)).status == 404, redirect_uri
        later(world)


async def test_a_refusal_does_not_wait_for_the_end_of_its_service(world: World, client_id: UUID) -> None:
    with world.connection.transaction():
        world.connection.execute("DELETE FROM services WHERE client_id = %s", (client_id,))
        answer = await refuse(world, client_id, OTHER)

    assert answer.status == 400
    assert remembered(world) == []


async def test_adding_it_asks_first_and_clears_it(world: World, client_id: UUID, ann: Visitor) -> None:
    await refuse(world, client_id, OTHER)

    asked = await ann.follow(await ann.open(SHOP), REFUSED)
    assert "<dd>shop.example</dd>" in asked.text
    added = await ann.submit(asked, REFUSED)

    assert "The redirect URI is added." in added.text
    assert OTHER in added.text
    assert "A sign-in was refused" not in added.text
    assert (await refuse(world, client_id, OTHER)).status == 303


@pytest.mark.parametrize("redirect_uri", ["https://evil.example/callback", "https://[::1/callback"])
async def test_an_address_at_another_host_is_shown_as_what_it_is_and_never_added_by_a_press(
    world: World, client_id: UUID, ann: Visitor, redirect_uri: str
) -> None:
    await refuse(world, client_id, OTHER)
    asked = await ann.open(REFUSED)
    world.connection.execute("UPDATE client_problems SET sent = %s", (redirect_uri,))

    page, again = await ann.open(SHOP), await ann.open(f"{REFUSED}?redirect_uri={quote(redirect_uri, safe='')}")
    token = {"form_token": form_token(asked)}
    pressed = await ann.post(REFUSED, {**token, "seen_redirect_uri": redirect_uri})

    assert "to a host that is not yours so far" in page.text
    assert f"<code>{redirect_uri}</code>" in page.text
    assert f'href="{REFUSED}"' not in page.text
    assert (again.status, pressed.status) == (404, 404)
    assert world.value("SELECT redirect_uris FROM services") == ["https://shop.example/callback"]
    # A person who knows it types it.
    if redirect_uri.startswith("https"):
        typed = await ann.submit(page, f"{SHOP}/redirect-uris", redirect_uri="https://evil.example/typed")
        assert "The redirect URI is added." in typed.text


async def test_a_stranger_takes_no_place_from_an_address_at_the_own_host(
    world: World, client_id: UUID, ann: Visitor
) -> None:
    for redirect_uri in ("https://evil.example/", OTHER, "https://evil.example/"):
        await refuse(world, client_id, redirect_uri)
        later(world)

    page = await ann.open(SHOP)

    assert f"<code>{OTHER}</code>" in page.text
    assert "evil.example" not in page.text


async def test_it_is_forgotten(world: World, client_id: UUID, ann: Visitor) -> None:
    await refuse(world, client_id, OTHER)

    page = await ann.submit(await ann.open(SHOP), f"{REFUSED}/forget")

    assert "The refused address is forgotten." in page.text
    assert remembered(world) == []
    assert (await ann.open(REFUSED)).status == 404


async def test_a_stranger_cannot_exchange_the_address_that_was_seen(
    world: World, client_id: UUID, ann: Visitor
) -> None:
    await refuse(world, client_id, OTHER)
    shown = await ann.open(REFUSED)
    later(world)
    await refuse(world, client_id, "https://shop.example/evil")

    await ann.submit(shown, f"{REFUSED}/forget")
    added, forgotten = await ann.submit(shown, REFUSED), await ann.submit(shown, f"{REFUSED}/forget")

    for answer in (added, forgotten):
        assert answer.status == 409
        assert "This address is no longer here" in answer.text
    assert remembered(world) == ["https://shop.example/evil"]
    assert OTHER not in added.text


async def test_each_address_that_was_refused_can_be_added(world: World, client_id: UUID, ann: Visitor) -> None:
    await refuse(world, client_id, OTHER)
    later(world)
    await refuse(world, client_id, "https://shop.example/newer")

    page = await ann.open(f"{REFUSED}?redirect_uri={quote(OTHER, safe='')}")
    added = await ann.submit(page, REFUSED)

    assert "The redirect URI is added." in added.text
    assert world.value("SELECT redirect_uris FROM services") == ["https://shop.example/callback", OTHER]


async def test_what_no_service_may_register_is_not_added(world: World, client_id: UUID, ann: Visitor) -> None:
    world.connection.execute("UPDATE services SET redirect_uris = '{http://shop.example/old}'")
    await refuse(world, client_id, "http://shop.example/plain")
    asked = await ann.open(REFUSED)
    assert "It cannot be added as it is" in asked.text

    answer = await ann.submit(asked, REFUSED)

    assert answer.status == 400
    assert "http is only for localhost" in answer.text


async def test_adding_it_by_the_field_takes_it_from_the_page_too(world: World, client_id: UUID, ann: Visitor) -> None:
    await refuse(world, client_id, OTHER)

    page = await ann.submit(await ann.open(SHOP), f"{SHOP}/redirect-uris", redirect_uri=OTHER)

    assert "A sign-in was refused" not in page.text


async def test_who_may_not_change_the_service_sees_it_closed(world: World, client_id: UUID, visitor: Visitor) -> None:
    await refuse(world, client_id, OTHER)
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(SHOP)

    assert OTHER in page.text
    assert f'href="{REFUSED}"' not in page.text
    assert (await visitor.open(REFUSED)).status == 403
