"""The first page: where it leads."""

from __future__ import annotations

from tests.world.visitor import Visitor
from tests.world.world import World

HOME = "/app"


async def led_to(visitor: Visitor) -> str:
    """Return where the first page leads."""
    answer = await visitor.send("GET", HOME)
    assert answer.status == 303
    return answer.headers["Location"]


async def test_a_person_of_no_organization_begins_with_their_account(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    assert await led_to(visitor) == "/app/account"


async def test_a_person_of_one_organization_begins_with_its_overview_and_of_several_with_the_list(
    world: World, visitor: Visitor
) -> None:
    user_id = world.user()
    world.member(world.organization("acme"), user_id, "owner")
    await visitor.sign_in()

    of_one = await led_to(visitor)
    world.member(world.organization("globex"), user_id, "member")
    of_two = await led_to(visitor)

    assert (of_one, of_two) == ("/app/organizations/acme", "/app/organizations")
    assert 'href="/app/account"' in (await visitor.open(HOME)).text


async def test_a_membership_that_is_not_confirmed_is_not_opened_by_itself(world: World, visitor: Visitor) -> None:
    world.member(world.organization("acme"), world.user(), "member", is_confirmed=False)
    await visitor.sign_in()
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL")

    assert await led_to(visitor) == "/app/organizations"
    assert world.value("SELECT confirmed_at FROM memberships") is None


async def test_an_organization_that_refuses_the_session_is_not_opened_by_itself(world: World, visitor: Visitor) -> None:
    acme = world.organization("acme")
    world.member(acme, world.user(), "member")
    await visitor.sign_in()
    world.connection.execute("UPDATE memberships SET suspended_at = now()")

    assert await led_to(visitor) == "/app/organizations"


async def test_a_session_for_another_organization_alone_begins_with_the_account(world: World, visitor: Visitor) -> None:
    world.member(world.organization("acme"), world.user(), "member")
    await visitor.sign_in()
    world.connection.execute("UPDATE sessions SET confined_to = %s", (world.organization("bolt"),))

    assert await led_to(visitor) == "/app/account"


async def test_who_signs_in_there_is_led_on(world: World, visitor: Visitor) -> None:
    world.member(world.organization("acme"), world.user(), "owner")

    page = await visitor.sign_in(path=HOME)

    assert (page.status, "What needs you" in page.text) == (200, True)
