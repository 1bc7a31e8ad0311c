"""Choosing an organization, and the second factor that it may require."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from pyotp.totp import TOTP

from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

TARGET = "/app?a=b"


@pytest.fixture
def person(world: World) -> Person:
    """A user with a membership in two organizations, of which one requires a second factor."""
    person = Person(world, world.user(), EMAIL)
    person.join_organization("engines")
    person.join_organization("vault", mfa_required=True)
    return person


async def way_to(world: World, slug: str) -> str:
    """Return the address of a sign-in for an organization."""
    wanted = BrowserReturn(target=TARGET, organization_slug=slug)
    return_id = await world.installation.database.transact(browser_returns.keep, wanted)
    return f"/app/sign-in?return_id={return_id.reveal()}"


def code_of(page: Answer, clock: SettableClock) -> str:
    """Return the code that an app shows which has read the key on the page."""
    [key] = re.findall(r"<code>([A-Z2-7\s]{39})</code>", page.text)
    return TOTP("".join(key.split())).at(clock())


async def test_an_organization_is_chosen_among_those_of_the_user(
    world: World, visitor: Visitor, person: Person
) -> None:
    world.organization("foreign")
    page = await visitor.sign_in(path="/app/choose-organization")

    assert {form.fields.get("org_slug") for form in forms_of(page)} == {"engines", "vault"}
    await visitor.submit(page, org_slug="engines")

    chosen = world.value("SELECT o.slug FROM sessions s JOIN organizations o ON o.id = s.organization_id")
    assert chosen == "engines"


async def test_an_organization_of_others_cannot_be_chosen(world: World, visitor: Visitor, person: Person) -> None:
    world.organization("foreign")
    page = await visitor.sign_in(path="/app/choose-organization")

    for slug, status in (("foreign", 403), ("nowhere", 404), ("", 404)):
        assert (await visitor.submit(page, org_slug=slug)).status == status


async def test_a_sign_in_for_an_organization_chooses_it_and_leads_on(
    world: World, visitor: Visitor, person: Person
) -> None:
    page = await visitor.sign_in(path=await way_to(world, "engines"))

    assert {form.fields.get("org_slug") for form in forms_of(page)} == {"engines"}
    answer = await visitor.submit(page, is_followed=False)

    assert (answer.status, answer.headers["Location"]) == (303, TARGET)


async def test_a_required_second_factor_is_set_up_on_the_way(
    world: World, visitor: Visitor, person: Person, clock: SettableClock
) -> None:
    choice = await visitor.sign_in(path=await way_to(world, "vault"))
    old = visitor.cookies["gatehouse_session"]

    setup = await visitor.submit(choice)
    shown = await visitor.submit(setup, "/app/second-factor/set-up")
    wrong = await visitor.submit(shown, code="000000" if code_of(shown, clock) != "000000" else "111111")
    done = await visitor.submit(wrong, code=code_of(shown, clock))

    assert "data:image/svg+xml;base64," in shown.text
    assert wrong.status == 400
    assert len(re.findall(r"<code>[A-Z0-9]{4}-[A-Z0-9]{4}</code>", done.text)) == 10
    assert visitor.cookies["gatehouse_session"] != old
    [address] = re.findall(r'href="(/app/sign-in\?[^"]+)"', done.text)
    again = await visitor.open(address)
    answer = await visitor.submit(again, is_followed=False)
    assert (answer.status, answer.headers["Location"]) == (303, TARGET)


async def test_a_user_who_has_a_second_factor_proves_it_instead_of_setting_one_up(
    world: World, visitor: Visitor, person: Person
) -> None:
    page = await visitor.sign_in(path=await way_to(world, "vault"))
    await person.turn_mfa_on()
    person.next_step()

    asked = await visitor.submit(page)
    choice = await visitor.submit(asked, code=person.code())
    answer = await visitor.submit(choice, is_followed=False)

    assert "Sign in again" in asked.text
    assert (answer.status, answer.headers["Location"]) == (303, TARGET)


async def test_a_factor_is_set_up_only_soon_after_a_sign_in(
    world: World, visitor: Visitor, person: Person, clock: SettableClock
) -> None:
    await visitor.sign_in()
    setup = await visitor.open("/app/second-factor/set-up")
    clock.advance(timedelta(minutes=11))

    asked = await visitor.open("/app/second-factor/set-up")
    forced = await visitor.submit(setup)
    back = await visitor.submit(forced, password=PASSWORD)

    assert "Sign in again" in asked.text
    assert "Sign in again" in forced.text
    assert "What you have pressed is being done." in back.text
    assert world.value("SELECT count(*) FROM totp_secrets") == 0
    await visitor.submit(back)
    assert world.value("SELECT count(*) FROM totp_secrets") == 1


async def test_a_member_who_was_removed_goes_on_without_the_organization(
    world: World, visitor: Visitor, person: Person, clock: SettableClock
) -> None:
    page = await visitor.sign_in(path="/app/choose-organization")
    await visitor.submit(page, org_slug="engines")
    world.connection.execute("DELETE FROM memberships")

    choice = await visitor.open("/app/choose-organization")

    assert "You are a member of no active organization" in choice.text
    assert world.value("SELECT organization_id FROM sessions WHERE revoked_at IS NULL") is None
