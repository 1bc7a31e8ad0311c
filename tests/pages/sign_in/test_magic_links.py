"""The page behind a mailed link to sign in: looking spends nothing, and its button gives a code (pitfall 17)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

import pytest
import trio

from entrypoints.settings import Settings
from tests.accounts import EMAIL, people, place
from tests.sign_ins import claims_of

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.accounts import People, Place
    from tests.application import Answer
    from tests.clock import SettableClock

__all__ = ["people", "place"]

PATH = "/auth/magic-link"
FORM = "application/x-www-form-urlencoded"
ROUNDS = 50
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def settings() -> Settings:
    """Without rate limits."""
    return Settings(dev=True, rate_limits=False)


async def requested(people: People, **return_request: str) -> str:
    """Ask for a link, and give the token in the letter."""
    await people.messages()
    answer = await people.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **return_request})
    assert answer.status == 200, answer.text
    return (await people.message()).values["token"]


async def press(people: People, token: str, *, media_type: str = FORM) -> Answer:
    """Press the button."""
    data = urlencode({"token": token}).encode()
    return await people.client.post(PATH, data=data, headers={"Content-Type": media_type})


async def verify(people: People, token: str) -> Answer:
    """Sign in with a token or a code."""
    return await people.client.post("/api/auth/magic-link/verify", body={"token": token})


def code_on(answer: Answer) -> str:
    """Read the code."""
    assert answer.status == 200, answer.text
    [code] = _UUID.findall(answer.text)
    return code


async def test_looking_shows_a_button_and_spends_nothing(people: People) -> None:
    await people.register_and_verify()
    token = await requested(people)
    path = f"{PATH}?token={token}"

    answers = [await people.client.request(method, path) for method in ("HEAD", "GET", "GET", "HEAD")]

    assert [answer.status for answer in answers] == [200] * 4
    page = answers[1].text
    assert EMAIL in page
    assert '<form method="post" action="/auth/magic-link">' in page
    assert '<button class="button" type="submit">' in page
    assert "<script" not in page
    assert answers[1].headers["Cache-Control"] == "no-store"
    assert answers[1].headers["Referrer-Policy"] == "no-referrer"
    assert (await verify(people, token)).status == 200


async def test_the_button_uses_the_link_up_and_shows_a_code_that_signs_in_once(people: People) -> None:
    await people.register_and_verify()
    token = await requested(people)

    pressed = await press(people, token)
    code = code_on(pressed)
    by_link, by_code, again = await verify(people, token), await verify(people, code), await verify(people, code)

    assert UUID(code).version == 4
    assert code != token
    assert (by_link.status, by_code.status, again.status) == (401, 200, 401)
    assert "code was used already" in again.json["error"]


async def test_the_page_gives_tokens_to_nobody_and_begins_no_session(people: People, connection: Connection) -> None:
    await people.register_and_verify()

    pressed = await press(people, await requested(people))

    assert "Set-Cookie" not in pressed.headers
    assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert people.events("user.login.success") == []


async def test_the_code_signs_in_where_the_link_was_asked_for_and_the_page_leads_back(
    people: People, place: Place
) -> None:
    await people.register_and_verify()
    token = await requested(people, **place.return_request)

    looked = await people.client.get(f"{PATH}?token={token}")
    pressed = await press(people, token)

    assert "Sign in to Acme Shop" in looked.text
    assert f'href="{place.redirect_uri}"' in pressed.text
    claims = claims_of((await verify(people, code_on(pressed))).json["access_token"])
    assert (claims["org"], claims["service"]) == ("acme", "shop")


async def test_the_code_is_good_for_five_minutes(people: People, clock: SettableClock) -> None:
    await people.register_and_verify()
    code = code_on(await press(people, await requested(people)))

    clock.advance(timedelta(minutes=5))
    late = await verify(people, code)
    clock.advance(timedelta(seconds=-1))

    assert late.status == 401
    assert "code has expired" in late.json["error"]
    assert (await verify(people, code)).status == 200


async def test_a_code_is_no_link(people: People) -> None:
    await people.register_and_verify()
    code = code_on(await press(people, await requested(people)))

    assert (await people.client.get(f"{PATH}?token={code}")).status == 401
    assert (await press(people, code)).status == 401
    assert (await verify(people, code)).status == 200


async def test_of_two_presses_at_once_exactly_one_gets_a_code(people: People) -> None:
    await people.register_and_verify()
    for _ in range(ROUNDS):
        token, statuses = await requested(people), list[int]()

        async def press_it(token: str, statuses: list[int]) -> None:
            statuses.append((await press(people, token)).status)

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(press_it, token, statuses)

        assert sorted(statuses) == [200, 401]


@pytest.mark.parametrize("token", ["", "nonsense", "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11", "<script>"])
async def test_a_link_that_is_none_says_what_to_do(people: People, token: str) -> None:
    looked = await people.client.get(f"{PATH}?{urlencode({'token': token})}")
    pressed = await press(people, token)

    for answer in (looked, pressed):
        assert answer.status == 401
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "This link is not valid" in answer.text
        assert "request a new one" in answer.text


async def test_a_link_that_was_used_or_is_too_old_says_so(people: People, clock: SettableClock) -> None:
    await people.register_and_verify()
    used, old = await requested(people), await requested(people)
    await press(people, used)

    assert "This link was used already" in (await people.client.get(f"{PATH}?token={used}")).text
    clock.advance(timedelta(minutes=15))
    assert "This link has expired" in (await people.client.get(f"{PATH}?token={old}")).text
    assert "This link has expired" in (await press(people, old)).text


async def test_another_kind_of_form_is_refused(people: People) -> None:
    await people.register_and_verify()
    token = await requested(people)

    assert (await press(people, token, media_type="text/plain")).status == 415
    assert (await verify(people, token)).status == 200
