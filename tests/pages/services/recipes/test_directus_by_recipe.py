"""Directus, run by its recipe and no other setting, signs people in."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.browser import Watched
from tests.pages.services.recipes.administrator import ADMIN, CHOSEN, MEMBER, STRANGER, Administrator, sign_in
from tests.pages.services.recipes.directus import Directus
from tests.pages.services.recipes.test_programs_by_recipe import (
    REFUSED,
    Running,
    administrator,
    connected,
    reaches,
    signed_in,
)
from tests.waiting import wait_until

# Fixtures of another module.
__all__ = ["administrator", "connected"]

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def program(empty_database_url: str) -> Directus:
    """Directus, with a database."""
    return Directus(empty_database_url)


def test_a_member_signs_in_and_out(program: Directus, connected: Running, watch: Callable[..., Watched]) -> None:
    page = watch().page

    with connected() as made:
        shown = signed_in(program, page, made, MEMBER)
        program.sign_out(page)
        wait_until(lambda: not program.shown(page))

    assert shown == MEMBER


def test_who_is_in_the_group_is_an_admin_there(
    program: Directus, connected: Running, watch: Callable[..., Watched]
) -> None:
    with connected() as made:
        shown = signed_in(program, watch().page, made, ADMIN)

    assert shown == f"{ADMIN} (admin)"


def test_a_stranger_reads_why_and_gets_back_and_who_was_chosen_is_an_admin_there(
    program: Directus, connected: Running, watch: Callable[..., Watched]
) -> None:
    page = watch().page

    with connected(is_for_chosen=True) as made:
        program.begin(page, made.url)
        sign_in(page, STRANGER)
        page.get_by_text(REFUSED).wait_for()
        page.get_by_role("button", name="Back to Shop").click()
        reaches(page, made)

        assert "/admin/login" in urlsplit(page.url).path
        assert program.shown(page) == ""
        shown = signed_in(program, watch().page, made, CHOSEN)

    assert shown == f"{CHOSEN} (admin)"


def test_a_wrong_secret_lets_nobody_in_and_is_found(
    program: Directus, connected: Running, administrator: Administrator, watch: Callable[..., Watched]
) -> None:
    page = watch().page

    with connected(secret="another-secret-than-that-of-the-service") as made:
        program.begin(page, made.url)
        sign_in(page, MEMBER)
        reaches(page, made)
        assert program.shown(page) == ""

    administrator.finds_trouble(watch().page, "The application did not prove who it is")
