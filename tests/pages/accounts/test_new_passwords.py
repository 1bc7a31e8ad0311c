"""Choosing a password on the pages: what their forms ask for, what they refuse, and the notice after a sign-in."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

from adapters.password_lists.files import BreachedPasswordFile
from core.accounts.passwords import BREACHED, COMMON, EXPECTED
from tests.application import Answer, serving
from tests.breached import breached_file
from tests.world.builder import EMAIL, PASSWORD
from tests.world.inviter import Inviter
from tests.world.second_factors import insert_person
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

LEAKED = "a password that has leaked"
ACCEPT = "/app/invitations/accept"
NOTICE = "known from a data breach"
REFUSED = {"iloveyou1": COMMON, "gatehouse-example": EXPECTED, LEAKED: BREACHED}


def with_list(world: World, folder: Path, *passwords: str) -> World:
    """Return a world with a list of breached passwords, which asks for nine characters."""
    installation = replace(
        world.installation,
        breached_passwords=BreachedPasswordFile(breached_file(folder, *passwords)),
        password_rules=replace(world.installation.password_rules, characters_min=9),
    )
    return replace(world, installation=installation, client=serving(installation))


def problems_of(page: Answer) -> list[str]:
    """Return the problems at the fields of a page."""
    return [unescape(text) for text in re.findall(r'<p class="problem"[^>]*>([^<]+)</p>', page.text)]


def assert_asks(page: Answer, name: str) -> None:
    """Assert that the field for a new password says to everybody what is asked for."""
    [tag] = re.findall(rf'<input id="{name}"[^>]*>', page.text)
    assert 'autocomplete="new-password"' in tag
    assert 'minlength="9"' in tag
    assert 'passwordrules="minlength: 9; maxlength: 128;"' in tag
    assert "At least 9 characters." in page.text


async def test_the_form_of_a_registration_says_what_it_asks_for_and_what_it_refuses(
    world: World, tmp_path: Path
) -> None:
    visitor = Visitor(with_list(world, tmp_path, LEAKED).client)
    page = await visitor.open("/app/register")

    assert_asks(page, "password")
    for password, problem in REFUSED.items():
        refused = await visitor.submit(page, email=EMAIL, password=password)
        assert (refused.status, problems_of(refused)) == (400, [problem])


async def test_so_does_that_of_a_mailed_link(world: World, tmp_path: Path) -> None:
    world = with_list(world, tmp_path, LEAKED)
    world.user(EMAIL)
    await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
    token = (await world.mail()).values["token"]
    visitor = Visitor(world.client)
    page = await visitor.open(f"/auth/reset-password?token={token}")

    assert_asks(page, "new_password")
    leaked = await visitor.submit(page, new_password=LEAKED, repeated=LEAKED)
    assert (leaked.status, problems_of(leaked)) == (400, [BREACHED])
    both = await visitor.submit(page, new_password="password1", repeated="password2")
    assert problems_of(both) == [COMMON, "The passwords do not match."]
    assert (await visitor.submit(page, new_password="fine " * 5, repeated="fine " * 5)).status == 200


async def test_so_does_that_of_the_account(world: World, tmp_path: Path) -> None:
    world = with_list(world, tmp_path, LEAKED)
    world.user(EMAIL)
    visitor = Visitor(world.client)
    await visitor.sign_in()
    page = await visitor.open("/app/account/password")

    assert_asks(page, "new_password")
    leaked = await visitor.submit(
        page, "/app/account/password", current_password=PASSWORD, new_password=LEAKED, repeated=LEAKED
    )
    assert (leaked.status, problems_of(leaked)) == (400, [BREACHED])


async def test_so_does_that_of_an_invitation(inviter: Inviter, tmp_path: Path) -> None:
    world = with_list(inviter.world, tmp_path, LEAKED)
    visitor, invitation = Visitor(world.client), await inviter.invite()
    page = await visitor.open(ACCEPT + invitation.link)

    assert_asks(page, "password")
    for password, problem in {**REFUSED, "Acme-Acme-Guest": EXPECTED}.items():
        refused = await visitor.submit(page, ACCEPT, password=password)
        assert (refused.status, problems_of(refused)) == (400, [problem])


async def test_after_a_sign_in_with_a_leaked_password_its_user_is_asked_to_change_it(
    world: World, tmp_path: Path
) -> None:
    world = with_list(world, tmp_path, PASSWORD)
    world.user(EMAIL)
    visitor = Visitor(world.client)

    page = await visitor.sign_in(path="/app/account/devices")

    assert NOTICE in page.text
    later = await visitor.follow(page, "/app/sign-in")
    assert "/app/account/devices" in later.text
    assert NOTICE not in later.text


async def test_the_change_leads_on_to_where_the_sign_in_led(world: World, tmp_path: Path) -> None:
    world = with_list(world, tmp_path, PASSWORD)
    world.user(EMAIL)
    visitor = Visitor(world.client)
    page = await visitor.sign_in(path="/app/account/devices")

    form = await visitor.follow(page, "/app/account/password")
    wrong = await visitor.submit(
        form, "/app/account/password", current_password="wrong", new_password="fine " * 5, repeated="fine " * 5
    )
    saved = await visitor.submit(
        wrong,
        "/app/account/password",
        current_password=PASSWORD,
        new_password="fine " * 5,
        repeated="fine " * 5,
        is_followed=False,
    )

    assert saved.headers["Location"] == "/app/sign-in?return_to=%2Fapp%2Faccount%2Fdevices"
    assert (await Visitor(world.client).sign_in(password="fine " * 5)).status == 200


async def test_with_a_second_factor_the_question_comes_after_its_code(world: World, tmp_path: Path) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    ada.next_step()
    visitor = Visitor(with_list(world, tmp_path, PASSWORD).client)

    asked = await visitor.sign_in(ada.email)
    page = await visitor.submit(asked, "/app/second-factor", code=ada.code())

    assert NOTICE not in asked.text
    assert NOTICE in page.text


async def test_signing_in_again_inside_of_a_session_asks_for_nothing_more(world: World, tmp_path: Path) -> None:
    world = with_list(world, tmp_path, PASSWORD)
    world.user(EMAIL)
    visitor = Visitor(world.client)
    await visitor.sign_in()

    page = await visitor.submit(await visitor.open("/app/sign-in-again"), "/app/sign-in-again", password=PASSWORD)

    assert NOTICE not in page.text


async def test_password_managers_find_the_page_that_changes_a_password(world: World, visitor: Visitor) -> None:
    answers = [await visitor.send(method, "/.well-known/change-password") for method in ("GET", "HEAD")]
    nothing = await visitor.send(
        "GET", "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200"
    )

    base_url = world.installation.settings.base_url
    for answer in answers:
        assert (answer.status, answer.headers["Location"]) == (303, f"{base_url}/app/account/password")
    assert nothing.status == 404


async def test_the_forms_of_a_sign_in_name_their_fields_to_password_managers(world: World, visitor: Visitor) -> None:
    world.user(EMAIL)
    first = await visitor.open("/app/sign-in")
    methods = await visitor.submit(first, "/app/sign-in", email=EMAIL)

    assert 'autocomplete="username webauthn"' in first.text
    [form] = [form for form in forms_of(methods) if form.action == "/app/sign-in/password"]
    assert form.fields["email"] == EMAIL
    assert 'autocomplete="username"' in methods.text
    assert 'autocomplete="current-password"' in methods.text
