"""A browser may bring the reference of a pushed request again until it is answered; of two answers one has a code."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from tests.concurrency import at_once
from tests.world.authorization import led_back, push
from tests.world.builder import EMAIL, PASSWORD
from tests.world.page_sign_ins import by_password
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World


async def test_it_is_opened_twice_before_a_sign_in_and_answered_once(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    address = await push(shop)

    first, second = [await visitor.open(address) for _ in range(2)]
    answered = await by_password(world, visitor, second)
    late = await visitor.open(address)
    other_window = await visitor.open("/auth/authorize/resume?request_id=x")

    assert "code" in led_back(answered)
    assert "Sign in to Shop" in first.text
    assert [(page.status, page.headers.get("Location")) for page in (late, other_window)] == [(400, None)] * 2


async def test_two_windows_that_sign_in_for_it_get_one_code(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    address = await push(shop)
    windows = [await visitor.open(address) for _ in range(2)]
    methods = [await visitor.submit(window, "/app/sign-in", email=EMAIL) for window in windows]

    answers = [
        await visitor.submit(methods[0], "/app/sign-in/password", password=PASSWORD),
        await visitor.open(f"/app/sign-in?return_id={forms_of(windows[1])[0].fields['return_id']}"),
    ]

    assert "code" in led_back(answers[0])
    assert "This sign-in to Shop is no longer valid" in answers[1].text
    assert world.value("SELECT count(*) FROM authorization_codes") == 1


async def test_of_two_answers_at_once_one_has_a_code(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    await visitor.sign_in()
    address = await push(shop)

    answers = await at_once(*[partial(visitor.send, "GET", address)] * 2)

    assert sorted(answer.status for answer in answers) == [303, 400]
    assert "code" in led_back(next(answer for answer in answers if answer.status == 303))
    assert world.value("SELECT count(*) FROM authorization_codes") == 1


async def test_an_error_uses_it_up_too(shop: RelyingParty, visitor: Visitor) -> None:
    address = await push(shop, prompt="none")

    assert led_back(await visitor.send("GET", address))["error"] == "login_required"
    assert (await visitor.send("GET", address)).status == 400


async def test_it_lives_as_long_as_the_sign_in(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    in_time, late = await push(shop), await push(shop)
    pages = [await visitor.open(address) for address in (in_time, late)]
    other = Visitor(world.client)
    other_page = await other.open(late)

    world.clock.advance(timedelta(minutes=14))
    answered = await by_password(world, visitor, pages[0])
    world.clock.advance(timedelta(minutes=1))
    over = await by_password(world, other, other_page)

    assert "code" in led_back(answered)
    assert "This sign-in to Shop is no longer valid" in over.text
