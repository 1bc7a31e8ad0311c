"""The page of a mailed sign-in link: opening it does not use the link up, and its button shows a code."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import pytest
import trio

from adapters.postgres.driver.connection import Connection
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.signing_in import claims_of
from tests.world.world import World

PATH = "/auth/magic-link"
FORM = "application/x-www-form-urlencoded"
ROUNDS = 50
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def requested(world: World, **return_request: str) -> str:
    """Request a link, and return the token in the mail."""
    await world.mails()
    answer = await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **return_request})
    assert answer.status == 200, answer.text
    return (await world.mail()).values["token"]


async def press(world: World, token: str, *, media_type: str = FORM) -> Answer:
    """Submit the form of the button."""
    data = urlencode({"token": token}).encode()
    return await world.client.post(PATH, data=data, headers={"Content-Type": media_type})


async def verify(world: World, token: str) -> Answer:
    """Sign in with a token or a code."""
    return await world.client.post("/api/auth/magic-link/verify", body={"token": token})


def code_on(answer: Answer) -> str:
    """Return the code on the page."""
    assert answer.status == 200, answer.text
    [code] = _UUID.findall(answer.text)
    return code


async def test_opening_the_link_shows_a_button_and_does_not_use_the_link_up(world: World) -> None:
    await world.register_and_verify()
    token = await requested(world)
    path = f"{PATH}?token={token}"

    answers = [await world.client.request(method, path) for method in ("HEAD", "GET", "GET", "HEAD")]

    assert [answer.status for answer in answers] == [200] * 4
    page = answers[1].text
    assert EMAIL in page
    assert '<form method="post" action="/auth/magic-link">' in page
    assert '<button class="button" type="submit">' in page
    assert page.count("<script") == 1
    assert answers[1].headers["Cache-Control"] == "no-store"
    assert answers[1].headers["Referrer-Policy"] == "no-referrer"
    assert (await verify(world, token)).status == 200


async def test_the_button_uses_the_link_up_and_shows_a_code_that_signs_in_once(world: World) -> None:
    await world.register_and_verify()
    token = await requested(world)

    pressed = await press(world, token)
    code = code_on(pressed)
    by_link, by_code, again = await verify(world, token), await verify(world, code), await verify(world, code)

    assert UUID(code).version == 4
    assert code != token
    assert (by_link.status, by_code.status, again.status) == (401, 200, 401)
    assert "code was used already" in again.json["error"]


async def test_the_page_returns_no_tokens_and_starts_no_session(world: World, connection: Connection) -> None:
    await world.register_and_verify()

    pressed = await press(world, await requested(world))

    assert "Set-Cookie" not in pressed.headers
    assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert world.events("user.login.success") == []


async def test_the_code_signs_in_to_the_service_that_requested_the_link_and_the_page_links_back(
    world: World, acme_shop: AcmeShop
) -> None:
    await world.register_and_verify()
    token = await requested(world, **acme_shop.return_request)

    shown = await world.client.get(f"{PATH}?token={token}")
    pressed = await press(world, token)

    assert "Sign in to Acme Shop" in shown.text
    assert f'href="{acme_shop.redirect_uri}"' in pressed.text
    claims = claims_of((await verify(world, code_on(pressed))).json["access_token"])
    assert (claims["org"], claims["service"]) == ("acme", "shop")


async def test_the_code_is_valid_for_five_minutes(world: World, clock: SettableClock) -> None:
    await world.register_and_verify()
    code = code_on(await press(world, await requested(world)))

    clock.advance(timedelta(minutes=5))
    late = await verify(world, code)
    clock.advance(timedelta(seconds=-1))

    assert late.status == 401
    assert "code has expired" in late.json["error"]
    assert (await verify(world, code)).status == 200


async def test_a_code_is_not_accepted_as_a_link(world: World) -> None:
    await world.register_and_verify()
    code = code_on(await press(world, await requested(world)))

    assert (await world.client.get(f"{PATH}?token={code}")).status == 401
    assert (await press(world, code)).status == 401
    assert (await verify(world, code)).status == 200


async def test_of_two_concurrent_presses_exactly_one_gets_a_code(world: World) -> None:
    await world.register_and_verify()
    for _ in range(ROUNDS):
        token, statuses = await requested(world), list[int]()

        async def press_it(token: str, statuses: list[int]) -> None:
            statuses.append((await press(world, token)).status)

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(press_it, token, statuses)

        assert sorted(statuses) == [200, 401]


async def test_the_page_of_an_invalid_link_says_what_to_do(world: World, subtests: pytest.Subtests) -> None:
    for token in ("", "nonsense", "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11", "<script>"):
        with subtests.test(token=token):
            shown = await world.client.get(f"{PATH}?{urlencode({'token': token})}")
            pressed = await press(world, token)

            for answer in (shown, pressed):
                assert answer.status == 401
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
                assert "This link is not valid" in answer.text
                assert "request a new one" in answer.text


async def test_the_page_of_a_used_or_expired_link_says_so(world: World, clock: SettableClock) -> None:
    await world.register_and_verify()
    used, old = await requested(world), await requested(world)
    await press(world, used)

    assert "This link was used already" in (await world.client.get(f"{PATH}?token={used}")).text
    clock.advance(timedelta(minutes=15))
    assert "This link has expired" in (await world.client.get(f"{PATH}?token={old}")).text
    assert "This link has expired" in (await press(world, old)).text


async def test_another_media_type_than_a_form_is_refused(world: World) -> None:
    await world.register_and_verify()
    token = await requested(world)

    assert (await press(world, token, media_type="text/plain")).status == 415
    assert (await verify(world, token)).status == 200
