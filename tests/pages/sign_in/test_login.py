"""Signing in on the pages: by password and second factor, in the browser session that they begin."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from core.accounts.sign_in_methods import Provider
from core.sessions import browser_sessions
from core.sessions.refresh import SessionOver
from core.sign_in import browser_returns, conclusion
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.proofs import Destination, IdentityProof, InBrowser
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import serving_with_rate_limits
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of, set_cookies
from tests.world.world import World


@pytest.fixture
async def person(world: World) -> Person:
    """A user with an authenticator app."""
    person = Person(world, world.user(), EMAIL)
    await person.turn_mfa_on()
    return person


async def test_a_page_leads_to_the_sign_in_and_the_sign_in_back_to_the_page(world: World, visitor: Visitor) -> None:
    world.user()

    page = await visitor.sign_in(path="/app")

    assert page.status == 200
    assert "You are signed in as" in page.text
    assert EMAIL in page.text


async def test_a_wrong_password_is_refused_on_the_page_and_begins_no_session(world: World, visitor: Visitor) -> None:
    world.user()

    page = await visitor.sign_in(password="another password")

    assert page.status == 401
    assert "Email address or password is wrong." in page.text
    assert forms_of(page)[0].fields["email"] == EMAIL
    assert not visitor.has_session
    assert world.value("SELECT count(*) FROM sessions") == 0


async def test_the_password_alone_is_not_enough_with_a_second_factor(
    world: World, visitor: Visitor, person: Person
) -> None:
    before = world.value("SELECT count(*) FROM sessions")

    asked = await visitor.sign_in()

    assert asked.status == 200
    assert "Enter your code" in asked.text
    assert not visitor.has_session
    assert world.value("SELECT count(*) FROM sessions") == before


async def test_a_code_completes_the_sign_in(visitor: Visitor, person: Person) -> None:
    asked = await visitor.sign_in(path="/app")

    page = await visitor.submit(asked, code=person.code())

    assert page.status == 200
    assert "You are signed in as" in page.text
    assert "gatehouse_pre_auth" not in visitor.cookies


async def test_a_wrong_code_is_refused_on_the_page_and_the_fifth_ends_the_sign_in(
    visitor: Visitor, person: Person
) -> None:
    page = await visitor.sign_in()

    for _ in range(4):
        page = await visitor.submit(page, code=person.wrong_code())
        assert page.status == 401
        assert "This code is wrong" in page.text
    over = await visitor.submit(page, code=person.wrong_code())

    assert over.status == 401
    assert "This sign-in is over" in over.text
    assert not visitor.has_session


async def test_a_trusted_device_is_not_asked_for_a_code_again(visitor: Visitor, person: Person) -> None:
    asked = await visitor.sign_in()
    home = await visitor.submit(asked, code=person.code(), trust="on")
    await visitor.submit(home, "/app/sign-out")

    page = await visitor.sign_in()

    assert "You are signed in as" in page.text


async def test_signing_out_ends_the_session_and_removes_the_cookie(world: World, visitor: Visitor) -> None:
    world.user()
    home = await visitor.sign_in()
    old = dict(visitor.cookies)

    page = await visitor.submit(home, "/app/sign-out")

    assert "You are signed out" in page.text
    assert not visitor.has_session
    assert len(world.events("user.logout")) == 1
    visitor.cookies = old
    assert "Email address" in (await visitor.open("/app")).text


async def test_the_cookie_is_inaccessible_to_scripts_and_other_sites_and_forgotten_with_the_browser(
    world: World, visitor: Visitor
) -> None:
    world.user()
    asked = await visitor.submit(await visitor.open("/app/sign-in"), email=EMAIL)

    answer = await visitor.submit(asked, "/app/sign-in/password", password=PASSWORD, is_followed=False)

    [cookie] = [line for line in set_cookies(answer) if line.startswith("gatehouse_session=")]
    assert set(cookie.split("; ")[1:]) == {"HttpOnly", "SameSite=Lax", "Path=/"}
    assert answer.headers["Cache-Control"] == "no-store"


async def test_only_the_hash_of_the_secret_is_stored(world: World, visitor: Visitor) -> None:
    world.user()

    await visitor.sign_in()

    secret = visitor.cookies["gatehouse_session"]
    assert world.value("SELECT secret_hash = sha256(%s) FROM browser_sessions", secret.encode())


@pytest.mark.parametrize(
    ("stay", "idle"), [("", timedelta(hours=12)), ("on", timedelta(days=30))], ids=["short", "long"]
)
async def test_a_session_ends_after_its_idle_time(
    world: World, visitor: Visitor, clock: SettableClock, stay: str, idle: timedelta
) -> None:
    world.user()
    await visitor.sign_in(stay=stay)
    for _ in range(2):
        clock.advance(idle - timedelta(seconds=1))
        assert "You are signed in as" in (await visitor.open("/app")).text

    clock.advance(idle)

    page = await visitor.open("/app")
    assert "Email address" in page.text


async def test_a_session_ends_after_ninety_days_however_often_it_is_used(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in(stay="on")
    for _ in range(9):
        clock.advance(timedelta(days=10) - timedelta(seconds=1))
        assert "You are signed in as" in (await visitor.open("/app")).text

    clock.advance(timedelta(seconds=9))

    assert "Email address" in (await visitor.open("/app")).text


async def test_a_form_without_the_token_of_the_browser_is_refused(world: World, visitor: Visitor) -> None:
    world.user()
    home = await visitor.sign_in()
    stranger = Visitor(world.client)
    foreign = forms_of(await stranger.open("/app/sign-in"))[0].fields["form_token"]

    for token in ("", "nonsense", foreign):
        refused = await visitor.submit(home, "/app/sign-out", form_token=token)
        assert refused.status == 403
        assert "This form is no longer valid" in refused.text
    assert "You are signed in as" in (await visitor.open("/app")).text


async def test_a_form_that_another_site_sends_is_refused(
    world: World, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    world.user()
    home = await visitor.sign_in()

    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:8000"},
    ):
        with subtests.test(headers=headers):
            refused = await visitor.submit(home, "/app/sign-out", headers=headers)

            assert refused.status == 403
            assert visitor.has_session


async def test_a_form_of_our_own_page_is_accepted(world: World, visitor: Visitor) -> None:
    world.user()

    for headers in (
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost:8000"},
        dict[str, str](),
    ):
        home = await visitor.sign_in()
        assert visitor.has_session

        await visitor.submit(home, "/app/sign-out", headers=headers)

        assert not visitor.has_session, headers


async def test_signing_in_again_continues_the_session_with_a_new_secret(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in()
    old = visitor.cookies["gatehouse_session"]
    clock.advance(timedelta(minutes=11))

    page = await visitor.open("/app/sign-in-again?return_to=/app")
    home = await visitor.submit(page, password=PASSWORD)

    assert "You are signed in as" in home.text
    assert world.rows("SELECT authenticated_at, revoked_at FROM sessions") == [(clock(), None)]
    assert visitor.cookies["gatehouse_session"] != old
    visitor.cookies["gatehouse_session"] = old
    assert "Email address" in (await visitor.open("/app")).text


async def test_a_tab_that_still_sends_the_old_secret_does_not_take_the_new_one_from_the_browser(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in()
    tab = Visitor(world.client, cookies=dict(visitor.cookies))
    clock.advance(timedelta(minutes=11))
    before = await tab.send("GET", "/app/account")
    await visitor.submit(await visitor.open("/app/sign-in-again?return_to=/app"), password=PASSWORD)
    after = await tab.send("GET", "/app/account")

    # These answers arrive after the one with the new secret.
    for answer in (before, after):
        visitor.keep(answer)

    assert "You are signed in as" in (await visitor.open("/app")).text


async def test_a_code_is_enough_to_sign_in_again(visitor: Visitor, person: Person) -> None:
    asked = await visitor.sign_in()
    await visitor.submit(asked, code=person.code())
    person.next_step()

    page = await visitor.open("/app/sign-in-again?return_to=/app")
    refused = await visitor.submit(page, code=person.wrong_code())
    home = await visitor.submit(refused, code=person.code())

    assert refused.status == 401
    assert "This code is wrong" in refused.text
    assert "You are signed in as" in home.text


async def test_the_password_is_enough_to_sign_in_again_in_a_session_with_two_factors(
    visitor: Visitor, person: Person
) -> None:
    asked = await visitor.sign_in()
    await visitor.submit(asked, code=person.code())

    page = await visitor.open("/app/sign-in-again?return_to=/app")

    assert "You are signed in as" in (await visitor.submit(page, password=PASSWORD)).text


async def test_signing_in_again_in_a_session_with_one_factor_takes_the_second_that_was_added(
    world: World, visitor: Visitor
) -> None:
    person = Person(world, world.user(), EMAIL)
    await visitor.sign_in()
    await person.turn_mfa_on()

    asked = await visitor.submit(await visitor.open("/app/sign-in-again"), password=PASSWORD)
    person.next_step()
    home = await visitor.submit(asked, code=person.code())

    assert "Enter your code" in asked.text
    assert "You are signed in as" in home.text
    assert world.value("SELECT count(*) FROM browser_sessions") == 1


async def test_a_session_that_ends_while_its_user_signs_in_again_is_not_continued(
    world: World, visitor: Visitor
) -> None:
    user_id = world.user()
    await visitor.sign_in()
    found = await world.installation.database.read(browser_sessions.find, visitor.cookies["gatehouse_session"])
    world.connection.execute("UPDATE sessions SET revoked_at = now()")
    proof = IdentityProof(user_id=user_id, provider=Provider.PASSWORD, amr=("pwd",))

    with pytest.raises(SessionOver):
        await world.installation.database.transact(
            conclusion.conclude, proof, Destination(browser=InBrowser(present=found, is_again=True))
        )
    assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0


async def test_each_wrong_password_on_the_pages_counts_as_in_the_interface(
    world: World, installation: Installation
) -> None:
    world.user()
    visitor = Visitor(serving_with_rate_limits(replace(installation, settings=Settings(dev=True))))
    page = await visitor.submit(await visitor.open("/app/sign-in"), email=EMAIL)

    statuses = [
        (await visitor.submit(page, "/app/sign-in/password", password="a wrong password")).status for _ in range(11)
    ]

    assert statuses == [401] * 10 + [429]


async def test_of_two_forms_with_one_code_sent_at_once_one_signs_in(visitor: Visitor, person: Person) -> None:
    asked = await visitor.sign_in()
    code = person.code()
    tabs = [Visitor(visitor.client, cookies=dict(visitor.cookies)) for _ in range(2)]

    answers = await at_once(*(partial(tab.submit, asked, code=code, is_followed=False) for tab in tabs))

    assert statuses_of(answers) == [303, 401]
    assert sum(tab.has_session for tab in tabs) == 1


async def test_of_two_sign_ins_with_one_kept_path_one_opens_it(world: World) -> None:
    world.user()
    kept = await world.installation.database.transact(browser_returns.keep, BrowserReturn(target="/app?a=b"))
    tabs = [Visitor(world.client) for _ in range(2)]
    pages = [await tab.submit(await tab.open(f"/app/sign-in?return_id={kept.reveal()}"), email=EMAIL) for tab in tabs]

    answers = await at_once(
        *(
            partial(tab.submit, page, "/app/sign-in/password", password=PASSWORD, is_followed=False)
            for tab, page in zip(tabs, pages, strict=True)
        )
    )

    assert sorted(answer.headers["Location"] for answer in answers) == ["/app", "/app?a=b"]
