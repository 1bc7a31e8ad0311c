"""The page of one's own second factor: setting up an app, its backup codes, and turning it off."""

from __future__ import annotations

import base64
import re

import pytest
from pyotp.totp import TOTP

from tests.application import Answer
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.second_factors import STEP, Person
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/second-factor"
SETUP, ENABLE, DISABLE = f"{PAGE}/setup", f"{PAGE}/enable", f"{PAGE}/disable"
BACKUP_CODES = f"{PAGE}/backup-codes"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


def secret_of(page: Answer) -> str:
    """Return the secret that the page shows to people who cannot scan."""
    match = re.search(r"<code>([A-Z2-7 ]+)</code>", page.text)
    assert match is not None
    secret = match[1].replace(" ", "")
    WATCH.add(secret)
    return secret


def codes_of(page: Answer) -> list[str]:
    """Return the backup codes that the page shows."""
    codes = re.findall(r"<li><code>([^<]+)</code></li>", page.text)
    WATCH.add(*codes)
    return codes


async def turned_on(ada: Visitor, clock: SettableClock) -> Answer:
    """Turn the second factor on, and return the page with the backup codes."""
    setup = await ada.submit(await ada.open(PAGE), SETUP)
    return await ada.submit(setup, ENABLE, code=TOTP(secret_of(setup)).at(clock()))


async def test_an_app_is_set_up_by_scanning_and_turned_on_by_its_first_code(
    world: World, ada: Visitor, clock: SettableClock
) -> None:
    setup = await ada.submit(await ada.open(PAGE), SETUP)
    secret = secret_of(setup)
    page = await ada.submit(setup, ENABLE, code=TOTP(secret).at(clock()))

    assert '<img class="qr-code" src="data:image/svg+xml;base64,' in setup.text
    assert "otpauth://totp/" in setup.text
    assert "The second factor is on." in page.text
    assert len(codes_of(page)) == 10
    assert (await world.log_in()).json["mfa_required"]


async def test_a_wrong_code_leaves_the_secret_as_it_is(ada: Visitor, clock: SettableClock) -> None:
    setup = await ada.submit(await ada.open(PAGE), SETUP)
    secret = secret_of(setup)
    right = TOTP(secret).at(clock())
    near = {TOTP(secret).at(clock() + steps * STEP) for steps in range(-2, 3)}
    wrong = next(code for code in (f"{number:06}" for number in range(10)) if code not in near)

    again = await ada.submit(setup, ENABLE, code=wrong)
    nonsense = await ada.submit(again, ENABLE, code="not a code")
    page = await ada.submit(nonsense, ENABLE, code=right)

    assert (again.status, nonsense.status) == (400, 400)
    assert "This code is wrong." in again.text
    assert not shows(again.text, "POST")
    # The answer to a form shows no secret; the app has it, or begins anew.
    assert secret.encode() not in b"".join((again.content + nonsense.content).split())
    assert "Start again with a new QR code" in again.text
    assert "The second factor is on." in page.text


async def test_the_secret_of_the_cookie_changes_when_the_factor_is_turned_on(
    ada: Visitor, clock: SettableClock
) -> None:
    [before] = [value for name, value in ada.cookies.items() if "gatehouse_session" in name]

    await turned_on(ada, clock)

    [after] = [value for name, value in ada.cookies.items() if "gatehouse_session" in name]
    assert after != before
    assert (await ada.open(PAGE)).status == 200


async def test_the_codes_are_downloaded_from_the_page_itself(ada: Visitor, clock: SettableClock) -> None:
    page = await turned_on(ada, clock)

    match = re.search(r'download="[^"]+" href="data:text/plain;charset=utf-8;base64,([^"]+)"', page.text)
    assert match is not None
    lines = base64.b64decode(match[1]).decode().splitlines()
    assert lines == [f"Backup codes of {EMAIL}", "", *codes_of(page)]
    assert page.headers["Cache-Control"] == "no-store"


async def test_sending_the_first_code_twice_turns_the_factor_on_once(ada: Visitor, clock: SettableClock) -> None:
    setup = await ada.submit(await ada.open(PAGE), SETUP)
    code = TOTP(secret_of(setup)).at(clock())

    await ada.submit(setup, ENABLE, code=code)
    again = await ada.submit(setup, ENABLE, code=code)

    assert again.status == 400
    assert "An authenticator app is set up already" in again.text
    assert codes_of(again) == []


async def test_new_backup_codes_replace_the_earlier_ones(world: World, ada: Visitor, clock: SettableClock) -> None:
    earlier = codes_of(await turned_on(ada, clock))

    page = await ada.submit(await ada.open(PAGE), BACKUP_CODES)

    assert "The earlier ones no longer work." in page.text
    assert len(codes_of(page)) == 10
    assert not set(codes_of(page)) & set(earlier)


async def test_the_second_factor_is_turned_off_and_the_user_is_told(
    world: World, ada: Visitor, clock: SettableClock
) -> None:
    await turned_on(ada, clock)

    page = await ada.submit(await ada.open(PAGE), DISABLE)

    assert "The second factor is off." in page.text
    assert "mfa_required" not in (await world.log_in()).json
    assert [mail.template.value for mail in await world.mails()] == ["mfa_enabled", "mfa_disabled"]


async def test_a_session_on_a_trusted_device_cannot_turn_it_off(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    person = Person(world, world.user(), EMAIL)
    await person.turn_mfa_on()
    code_page = await visitor.sign_in(path=PAGE)
    clock_before = person.code()
    await visitor.submit(code_page, "/app/second-factor", code=clock_before, trust="on")
    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")
    page = await visitor.sign_in(path=PAGE)

    refused = await visitor.submit(page, DISABLE)

    assert refused.status == 403
    assert "Sign in again with your second factor to do this" in refused.text
    assert (await world.log_in()).json["mfa_required"]


async def test_a_code_without_an_app_is_refused_with_what_to_do(ada: Visitor) -> None:
    page = await ada.open(PAGE)
    form = page.text.split('name="form_token" value="')[1].split('"')[0]

    refused = await ada.post(ENABLE, {"form_token": form, "code": "nonsense"})

    assert refused.status == 400
    assert "Set up an app first." in refused.text
