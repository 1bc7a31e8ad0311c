"""Signing in with a mailed link on the pages: in the same browser at once, in any other one by its code."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from tests.application import Answer
from tests.http.sign_in.passkeys import REFUSAL
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def request_link(visitor: Visitor, email: str = EMAIL, path: str = "/app/sign-in") -> Answer:
    """Ask for a link on the pages."""
    methods = await visitor.submit(await visitor.open(path), "/app/sign-in", email=email)
    return await visitor.submit(methods, "/app/sign-in/link")


async def opened(world: World, visitor: Visitor) -> Answer:
    """Open the link of the one mail."""
    return await visitor.open(f"/auth/magic-link?token={(await world.mail()).values['token']}")


async def test_the_link_signs_in_in_the_browser_that_requested_it(world: World, visitor: Visitor) -> None:
    world.user()
    return_id = (
        await world.installation.database.transact(browser_returns.keep, BrowserReturn(target="/app?a=b"))
    ).reveal()
    await request_link(visitor, path=f"/app/sign-in?return_id={return_id}")
    page = await opened(world, visitor)

    answer = await visitor.submit(page, is_followed=False)

    assert (answer.status, answer.headers["Location"]) == (303, "/app?a=b")
    assert visitor.has_session


async def test_another_browser_gets_a_code_and_no_session(world: World, visitor: Visitor) -> None:
    world.user()
    asked = await request_link(visitor)
    other = Visitor(world.client)

    shown = await other.submit(await opened(world, other))
    [code] = _UUID.findall(shown.text)
    home = await visitor.submit(asked, "/app/sign-in/code", code=f" {code} ")

    assert not other.has_session
    assert "You are signed in as" in home.text


async def test_a_link_that_an_attacker_requested_does_not_sign_its_reader_in(world: World, visitor: Visitor) -> None:
    world.user("eve@example.com")
    attacker = Visitor(world.client)
    await request_link(attacker, "eve@example.com")
    await visitor.open("/app/sign-in")

    shown = await visitor.submit(await opened(world, visitor))

    assert "Your sign-in code" in shown.text
    assert not visitor.has_session


async def test_a_wrong_code_is_refused_on_the_page(world: World, visitor: Visitor) -> None:
    world.user()
    asked = await request_link(visitor)

    for typed, status in (("nonsense", 400), ("6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11", 401)):
        refused = await visitor.submit(asked, "/app/sign-in/code", code=typed)
        assert refused.status == status
        assert "/app/sign-in/code" in {form.action for form in forms_of(refused)}


async def test_a_link_does_not_replace_the_second_factor(world: World, visitor: Visitor) -> None:
    person = Person(world, world.user(), EMAIL)
    await person.turn_mfa_on()
    await world.mails()
    await request_link(visitor)

    asked = await visitor.submit(await opened(world, visitor))
    assert "Enter your code" in asked.text
    assert not visitor.has_session

    assert "You are signed in as" in (await visitor.submit(asked, code=person.code())).text


async def test_an_unknown_address_gets_the_same_page(world: World) -> None:
    world.user()
    seen: list[tuple[int, str]] = []
    for email in (EMAIL, "unknown@example.com"):
        answer = await request_link(Visitor(world.client), email)
        seen.append((answer.status, without_tokens(answer.text.replace(email, ""))))

    assert seen[0] == seen[1]
    assert [mail.to for mail in await world.mails()] == [EMAIL]


async def test_what_is_no_passkey_is_refused_on_the_page(visitor: Visitor, subtests: pytest.Subtests) -> None:
    first = await visitor.open("/app/sign-in")
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)

    for sent in (
        {},
        {"challenge_id": "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11", "credential": "{}"},
        {"challenge_id": "x", "credential": '{"id": "YQ", "type": "public-key"}'},
        {"challenge_id": "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11", "credential": "<script>"},
    ):
        with subtests.test(sent=sent):
            for page in (first, second):
                refused = await visitor.submit(page, "/app/sign-in/passkey", sent)
                assert refused.status == 401
                assert REFUSAL in refused.text
                assert not visitor.has_session


async def test_a_wrong_code_is_noted_for_its_account_by_the_statements_of_an_address_without_one(
    world: World, visitor: Visitor
) -> None:
    user_id = world.user()
    executed: list[list[str]] = []
    for email in (EMAIL, "unknown@example.com"):
        asked = await request_link(visitor, email)
        with recorded_statements() as statements:
            page = await visitor.submit(asked, "/app/sign-in/code", code=str(uuid4()))
        assert page.status == 401
        executed.append(alike(statements))

    assert executed[0] == executed[1]
    assert world.rows("SELECT user_id, success, reason FROM login_events") == [(user_id, False, "unknown_link")]


async def test_the_button_of_a_used_link_notes_that(world: World, visitor: Visitor) -> None:
    world.user()
    await request_link(visitor)
    other = Visitor(world.client)
    page = await opened(world, other)
    await other.submit(page)

    assert (await other.submit(page)).status == 401

    assert world.rows("SELECT success, reason FROM login_events") == [(False, "used_link")]
