"""The field that a person fills in first, or again, has the focus on the pages of their own account."""

from __future__ import annotations

import re

import pytest

from tests.application import Answer
from tests.world.builder import PASSWORD
from tests.world.visitor import Visitor
from tests.world.world import World

ACCOUNT = "/app/account"


def focused(page: Answer) -> list[str]:
    """Return the names of the fields of a page that ask for the focus."""
    fields: list[str] = re.findall(r"<input id=[^>]*\bautofocus\b[^>]*>", page.text)
    return [name for field in fields for name in re.findall(r' name="(\w+)"', field)]


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


async def test_the_first_field_has_the_focus(ada: Visitor) -> None:
    pages = {path: await ada.open(f"{ACCOUNT}/{path}") for path in ("email", "name", "password")}

    assert {path: focused(page) for path, page in pages.items()} == {
        "email": ["email"],
        "name": ["name"],
        "password": ["current_password"],
    }


async def test_what_is_refused_has_the_focus_in_its_place(ada: Visitor) -> None:
    page = await ada.open(f"{ACCOUNT}/password")
    given = {"current_password": PASSWORD, "new_password": "short", "repeated": "short"}

    wrong = await ada.submit(page, f"{ACCOUNT}/password", dict.fromkeys(given, "a wrong password"))
    short = await ada.submit(page, f"{ACCOUNT}/password", given)
    unequal = await ada.submit(page, f"{ACCOUNT}/password", {**given, "repeated": "another"})

    assert [focused(one) for one in (wrong, short, unequal)] == [["current_password"], ["new_password"], ["repeated"]]


async def test_a_page_that_says_what_is_done_has_it_nowhere(ada: Visitor) -> None:
    page = await ada.submit(await ada.open(f"{ACCOUNT}/name"), f"{ACCOUNT}/name", name="Ada")

    assert page.status == 200
    assert focused(page) == []


async def test_an_account_without_a_password_chooses_one_there(ada: Visitor, world: World) -> None:
    world.rows("UPDATE users SET password_hash = NULL RETURNING id")

    assert focused(await ada.open(f"{ACCOUNT}/password")) == ["new_password"]
