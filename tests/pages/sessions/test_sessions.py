"""The page of one's own sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from tests.world.visitor import Visitor
    from tests.world.world import World

PAGE = "/app/account/sessions"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


async def test_the_sessions_are_listed_and_this_one_is_marked(world: World, ada: Visitor) -> None:
    await world.sign_in(headers={"User-Agent": f"curl/8.0 {HOSTILE}"})

    page = await ada.open(PAGE)

    assert page.text.count("This session") == 1
    assert "curl" in page.text
    assert HOSTILE not in page.text


async def test_one_session_is_ended(world: World, ada: Visitor) -> None:
    one, other = await world.sign_in(), await world.sign_in()

    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/{claims_of(one.access_token)['sid']}/end")

    assert "The session has ended." in page.text
    assert (await world.list_sessions(one)).status == 401
    assert (await world.list_sessions(other)).status == 200


async def test_all_other_sessions_are_ended_and_this_one_stays(world: World, ada: Visitor) -> None:
    others = [await world.sign_in(), await world.sign_in()]

    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/end-others")

    assert "All other sessions have ended." in page.text
    assert [(await world.list_sessions(one)).status for one in others] == [401, 401]
    assert (await ada.open(PAGE)).status == 200


async def test_the_session_of_another_user_is_not_found(world: World, ada: Visitor) -> None:
    world.user("bob@example.com")
    bob = await world.sign_in("bob@example.com")
    page = await ada.open(PAGE)
    form = page.text.split('name="form_token" value="')[1].split('"')[0]

    refused = await ada.post(f"{PAGE}/{claims_of(bob.access_token)['sid']}/end", {"form_token": form})

    assert refused.status == 404
    assert (await world.list_sessions(bob)).status == 200
