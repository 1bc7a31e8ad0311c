"""Several windows of one browser: a sign-in answers the first visit of the request to whose forms it belongs, alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.application import Answer
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.page_sign_ins import WAYS, by_password
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


async def window_of(visitor: Visitor, party: RelyingParty, **parameters: str) -> str:
    """Open a window with the request of a service, and return the address of the sign-in page in it."""
    answer = await visitor.send("GET", address_of(party, **parameters))
    assert answer.status == 303, answer.text
    return answer.headers["Location"]


def asks(page: Answer) -> bool:
    """Return whether a page asks for consent."""
    return "/auth/authorize/allow" in page.text


@pytest.mark.parametrize("sign_in", WAYS)
async def test_a_sign_in_in_another_window_does_not_answer_for_an_open_request(
    shop: RelyingParty, visitor: Visitor, world: World, sign_in: Any
) -> None:
    window = await window_of(visitor, shop)

    elsewhere = await sign_in(world, visitor, await visitor.open("/app/sign-in"))
    reloaded = await visitor.open(window)

    assert "You are signed in as" in elsewhere.text
    assert asks(reloaded)
    assert "code" in led_back(await visitor.submit(reloaded, "/auth/authorize/allow"))


@pytest.mark.parametrize("sign_in", WAYS)
async def test_a_sign_in_in_the_window_of_the_request_answers_for_it(
    shop: RelyingParty, visitor: Visitor, world: World, sign_in: Any
) -> None:
    window = await visitor.open(await window_of(visitor, shop))

    assert "code" in led_back(await sign_in(world, visitor, window))


@pytest.mark.parametrize("is_first", [True, False])
async def test_of_two_open_requests_only_that_of_the_submitted_form_is_answered(
    shop: RelyingParty, app: RelyingParty, visitor: Visitor, world: World, *, is_first: bool
) -> None:
    windows = [await window_of(visitor, shop), await window_of(visitor, app)]
    mine, other = windows if is_first else reversed(windows)

    answered = await by_password(world, visitor, await visitor.open(mine))
    reloaded = await visitor.open(other)

    assert "code" in led_back(answered)
    assert asks(reloaded)


async def test_two_forms_that_are_submitted_before_either_request_goes_on_answer_both(
    shop: RelyingParty, app: RelyingParty, visitor: Visitor
) -> None:
    await visitor.sign_in()
    windows = [await visitor.open(address_of(one, prompt="login")) for one in (shop, app)]

    submitted = [
        await visitor.submit(window, "/app/sign-in-again", password=PASSWORD, is_followed=False) for window in windows
    ]

    for answer in reversed(submitted):
        assert "code" in led_back(await visitor.open(answer.headers["Location"]))


async def test_another_request_of_the_same_service_is_not_answered_with_it(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    left_open, used = await window_of(visitor, shop), await window_of(visitor, shop)

    form = await visitor.submit(await visitor.open(used), "/app/sign-in", email=EMAIL)
    await visitor.submit(form, "/app/sign-in/password", password=PASSWORD, is_followed=False)

    assert asks(await visitor.open(left_open))
    assert world.value("SELECT count(*) FROM service_users") == 0


async def test_signing_in_again_in_another_window_makes_a_request_new_enough_and_leaves_it_unanswered(
    shop: RelyingParty, visitor: Visitor
) -> None:
    await visitor.sign_in()
    window = await window_of(visitor, shop, prompt="login")

    await visitor.submit(await visitor.open("/app/sign-in-again"), "/app/sign-in-again", password=PASSWORD)

    assert asks(await visitor.open(window.replace("/app/sign-in-again", "/app/sign-in")))


async def test_choosing_an_account_is_answered_by_the_form_of_its_request_alone(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    left_open, used = [await window_of(visitor, shop, prompt="select_account") for _ in range(2)]

    answered = await by_password(world, visitor, await visitor.open(used))

    assert "code" in led_back(answered)
    assert asks(await visitor.open(left_open))


async def test_who_registers_on_the_way_is_not_asked(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    window = await visitor.open(await window_of(visitor, shop))
    register = await visitor.follow(window, "/app/register")
    await visitor.submit(register, "/app/register", email="new@example.com", password=PASSWORD)
    page = await visitor.open(f"/auth/verify-email?token={(await world.mail()).values['token']}")

    confirmed = await visitor.submit(page, "/auth/verify-email/confirm")

    assert "code" in led_back(confirmed)


async def test_a_sign_in_does_not_answer_for_the_next_user_of_the_browser(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user("next@example.com")
    window = await window_of(visitor, shop)
    form = await visitor.submit(await visitor.open(window), "/app/sign-in", email=EMAIL)
    signed_in = await visitor.submit(form, "/app/sign-in/password", password=PASSWORD, is_followed=False)
    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")

    await visitor.sign_in("next@example.com")

    assert asks(await visitor.open(signed_in.headers["Location"]))


async def test_the_page_of_a_request_from_another_browser_answers_nothing(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    """A service begins the request in a browser of its own, and has the user open the sign-in page of it."""
    theirs = await window_of(Visitor(world.client), shop)

    asked = await by_password(world, visitor, await visitor.open(theirs))

    assert asks(asked)


async def test_the_pages_of_a_request_name_the_service_and_its_organization(
    shop: RelyingParty, visitor: Visitor
) -> None:
    first = await visitor.open(address_of(shop))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    await visitor.submit(second, "/app/sign-in/password", password=PASSWORD)
    again = await visitor.open(address_of(shop, prompt="login"))

    for page in (first, second, again):
        assert "You continue to <strong>Shop</strong> of <strong>Acme</strong>" in page.text


async def test_a_request_without_a_page_is_told_that_consent_is_required(shop: RelyingParty, visitor: Visitor) -> None:
    await window_of(visitor, shop)
    await visitor.sign_in()

    assert led_back(await visitor.send("GET", address_of(shop, prompt="none")))["error"] == "consent_required"
