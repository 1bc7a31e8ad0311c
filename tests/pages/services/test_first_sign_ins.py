"""The line on the page of a service that waits for the first sign-in, and says who signed in and when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.limits import SIGN_INS_KEPT_FOR
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

SHOP = f"{CONSOLE}/shop"
LINE = f"{SHOP}/first-sign-in"
AT_SHOP: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}
WAITING = "Waiting for your first sign-in"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, and a role that sees services but no people; and two persons outside of it."""
    team = world.team()
    team.add("ann", "owner")
    team.custom_role("developer", "services.view")
    team.add("dev", "developer")
    team.user("eve")
    team.user("fay")
    shop_of(world, team)
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def test_the_page_waits_until_the_first_sign_in_and_names_it_from_then_on(world: World, ann: Visitor) -> None:
    waiting, part = await ann.open(SHOP), await ann.open(LINE)
    await world.sign_in("eve@example.com", **AT_SHOP)
    world.clock.advance(timedelta(minutes=5))
    await world.sign_in("fay@example.com", **AT_SHOP)
    found, later_part = await ann.open(SHOP), await ann.open(LINE)

    for page in (waiting, part):
        assert WAITING in page.text
        assert f'href="{SHOP}#programs"' in page.text
    assert f'data-first-sign-in="{LINE}"' in waiting.text
    assert "connect-src 'self'" in waiting.headers["Content-Security-Policy"]
    for page in (found, later_part):
        assert WAITING not in page.text
        assert "The first sign-in succeeded: eve@example.com, on " in page.text
        assert "fay@example.com" not in page.text
    assert "first_sign_in." not in found.text


async def test_a_sign_in_elsewhere_or_refused_is_none_to_this_service(world: World, people: Team, ann: Visitor) -> None:
    world.service(people.organization_id, "blog")
    world.service(world.organization("globex"), "shop")
    await world.sign_in("eve@example.com", org_slug="acme", service_slug="blog")
    await world.sign_in("eve@example.com", org_slug="globex", service_slug="shop")
    await world.sign_in("eve@example.com")
    await world.log_in("eve@example.com", "a wrong password", **AT_SHOP)

    assert WAITING in (await ann.open(LINE)).text


async def test_who_may_not_see_the_people_learns_that_and_when(world: World, people: Team, visitor: Visitor) -> None:
    await world.sign_in("eve@example.com", **AT_SHOP)
    await visitor.sign_in("dev@example.com")

    for path in (SHOP, LINE):
        page = await visitor.open(path)
        assert "The first sign-in succeeded, on " in page.text
        assert "eve@example.com" not in page.text


async def test_a_person_who_has_left_the_service_is_not_named_by_their_address_of_now(
    world: World, people: Team, ann: Visitor
) -> None:
    await world.sign_in("eve@example.com", **AT_SHOP)
    world.connection.execute("DELETE FROM service_users WHERE user_id = %s", (people.ids["eve"],))
    world.connection.execute("UPDATE users SET email = 'private@example.net' WHERE id = %s", (people.ids["eve"],))

    page = await ann.open(LINE)

    assert "The first sign-in succeeded" in page.text
    assert "private@example.net" not in page.text


async def test_without_access_to_the_service_there_is_no_line(world: World, people: Team, visitor: Visitor) -> None:
    world.service(world.organization("globex"), "shop")
    people.custom_role("clerk", "analytics.view")
    people.add("kim", "clerk")
    await visitor.sign_in("kim@example.com")

    refused = await visitor.send("GET", LINE)
    elsewhere = await visitor.send("GET", LINE.replace("acme", "globex"))

    assert (refused.status, elsewhere.status) == (403, 403)
    for answer in (refused, elsewhere):
        assert WAITING not in answer.text


async def test_of_a_service_older_than_the_log_the_oldest_sign_in_is_not_called_the_first(
    world: World, ann: Visitor
) -> None:
    world.connection.execute("UPDATE services SET created_at = created_at - %s", (SIGN_INS_KEPT_FOR,))
    await world.sign_in("eve@example.com", **AT_SHOP)

    assert "Sign-ins work. The oldest one that is kept was on " in (await ann.open(LINE)).text


async def test_a_service_of_machines_waits_for_no_sign_in(world: World, ann: Visitor) -> None:
    world.connection.execute("UPDATE services SET service_type = 'api'")

    page = await ann.open(SHOP)

    assert WAITING not in page.text
    assert "machine.sh" in page.text
