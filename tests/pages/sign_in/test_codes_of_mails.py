"""Signing in on the pages with a mailed code: only in the browser that asked, and wherever the sign-in leads."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.application import Answer, serving, with_mail_limits
from tests.clock import SettableClock
from tests.pages.sign_in.test_mailed_links import request_link
from tests.world.builder import EMAIL
from tests.world.mailed_codes import other_than
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

CODE = "/app/sign-in/code"


async def mailed_code(world: World) -> str:
    """Return the code of the one mail."""
    return (await world.mail()).values["code"]


def challenge_of(page: Answer) -> str:
    """Return the id of the challenge of a page that takes a code."""
    [form] = [form for form in forms_of(page) if form.action == CODE]
    return form.fields["challenge_id"]


async def test_the_code_signs_in_in_the_browser_that_asked(world: World, visitor: Visitor) -> None:
    world.user()
    page = await request_link(visitor)

    home = await visitor.submit(page, CODE, code=await mailed_code(world))

    [field] = re.findall(r'<input id="code"[^>]*>', page.text)
    assert 'autocomplete="one-time-code"' in field
    assert 'inputmode="numeric"' in field
    assert "You are signed in as" in home.text


async def test_a_wrong_code_is_refused_on_the_page_and_the_right_one_still_taken(
    world: World, visitor: Visitor
) -> None:
    world.user()
    page = await request_link(visitor)
    code = await mailed_code(world)

    refused = await visitor.submit(page, CODE, code=other_than(code))

    assert refused.status == 401
    assert "This code is wrong" in refused.text
    assert challenge_of(refused) == challenge_of(page)
    assert "You are signed in as" in (await visitor.submit(refused, CODE, code=code)).text


async def test_a_code_does_nothing_in_another_browser(world: World, visitor: Visitor) -> None:
    world.user()
    world.user("eve@example.com")
    asked = await request_link(visitor)
    code = await mailed_code(world)
    eve = Visitor(world.client)
    page = await request_link(eve, "eve@example.com")

    for sent in ({"challenge_id": challenge_of(asked)}, {"challenge_id": "x"}, {"challenge_id": ""}):
        refused = await eve.submit(page, CODE, {"code": code, **sent})
        assert refused.status == 401
        assert "No code of this mail is taken here" in refused.text
    # Nor does it count a try, or use the code up.
    assert world.value("SELECT max(wrong_codes) FROM one_time_tokens") == 0
    assert "You are signed in as" in (await visitor.submit(asked, CODE, code=code)).text


async def test_a_browser_that_has_lost_its_cookie_takes_no_code(world: World, visitor: Visitor) -> None:
    world.user()
    asked = await request_link(visitor)
    code = await mailed_code(world)
    del visitor.cookies["gatehouse_link"]

    refused = await visitor.submit(asked, CODE, code=code)

    assert "No code of this mail is taken here" in refused.text
    assert not visitor.has_session


async def test_the_challenge_of_a_program_takes_no_code_on_a_page(world: World, visitor: Visitor) -> None:
    world.user()
    page = await request_link(visitor)
    await world.mails()
    answer = await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})

    refused = await visitor.submit(page, CODE, code=await mailed_code(world), challenge_id=answer.json["challenge_id"])

    assert refused.status == 401
    assert not visitor.has_session


async def test_a_code_that_came_too_late_says_what_to_do(world: World, visitor: Visitor, clock: SettableClock) -> None:
    world.user()
    page = await request_link(visitor)
    clock.advance(timedelta(minutes=10))

    refused = await visitor.submit(page, CODE, code=await mailed_code(world))

    assert refused.status == 401
    assert "Open the link in the mail, or request a new mail." in refused.text


async def test_a_code_does_not_replace_the_second_factor(world: World, visitor: Visitor) -> None:
    person = Person(world, world.user(), EMAIL)
    await person.turn_mfa_on()
    await world.mails()

    asked = await visitor.submit(await request_link(visitor), CODE, code=await mailed_code(world))

    assert not visitor.has_session
    assert "You are signed in as" in (await visitor.submit(asked, code=person.code())).text


async def test_the_network_limit_is_a_page_that_leads_to_the_link(world: World) -> None:
    world.user()
    visitor = Visitor(serving(with_mail_limits(world.installation)))
    page = await request_link(visitor)
    code = await mailed_code(world)
    world.connection.execute("UPDATE one_time_tokens SET wrong_codes = -30 WHERE purpose = 'magic_link'")
    for _ in range(30):
        assert (await visitor.submit(page, CODE, code=other_than(code))).status == 401

    limited = await visitor.submit(page, CODE, code=code)

    assert limited.status == 429
    assert "Open the link in the mail instead" in limited.text
    assert not visitor.has_session


async def test_the_page_and_its_refusals_are_german_for_a_german_reader(world: World, visitor: Visitor) -> None:
    world.user()
    page = await visitor.switch(await request_link(visitor), "de")
    page = await request_link(visitor)
    message = (await world.mails())[-1]

    refused = await visitor.submit(page, CODE, code=other_than(message.values["code"]))

    assert "Sechs Ziffern." in page.text
    assert "Dieser Code ist falsch." in refused.text
    assert message.language == "de"


async def test_an_unknown_address_gets_the_same_page_and_the_same_refusal(world: World) -> None:
    world.user()
    seen: list[list[tuple[int, str]]] = []
    for email in (EMAIL, "unknown@example.com"):
        visitor = Visitor(world.client)
        page = await request_link(visitor, email)
        mails = await world.mails()
        wrong = other_than(mails[-1].values["code"]) if mails else "000000"
        refused = [await visitor.submit(page, CODE, code=wrong) for _ in range(6)]
        seen.append([(one.status, without_tokens(one.text.replace(email, ""))) for one in (page, *refused)])

    assert seen[0] == seen[1]
