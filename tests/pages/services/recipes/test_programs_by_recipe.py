"""Programs of others, run by their recipes and no other setting, sign people in."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.driver.connection import Connection
from entrypoints.pages.console.recipes import RECIPES
from tests.browser import Site, Watched
from tests.logout_notices import send_notices
from tests.pages.services.programs import free_port
from tests.pages.services.recipes.administrator import (
    ADMIN,
    ADMINS,
    CHOSEN,
    MEMBER,
    STRANGER,
    Administrator,
    Connected,
    sign_in,
)
from tests.pages.services.recipes.portals import LemonldapOpenId, LemonldapSaml
from tests.pages.services.recipes.programs import PROGRAMS, MakesAdmins, Program
from tests.waiting import wait_until
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

# By OpenID Connect, and by SAML.
REFUSED = re.compile("You may not use this application with this account|Your account cannot use Shop")
Running = Callable[..., AbstractContextManager[Connected]]


@pytest.fixture(params=(*PROGRAMS, LemonldapOpenId, LemonldapSaml), ids=lambda program: program.word)
def program(request: pytest.FixtureRequest) -> Program:
    """Each of the programs."""
    return request.param()


@pytest.fixture
def administrator(world_of_now: Builder, connection: Connection, site: Site) -> Administrator:
    """The owner of an organization with three members, one of them in the group of admins, and a stranger."""
    [(organization_id,)] = connection.execute("SELECT id FROM organizations").fetchall()
    for email in (MEMBER, ADMIN, CHOSEN):
        world_of_now.member(organization_id, world_of_now.user(email))
    world_of_now.user(STRANGER)
    group_id, authority_id, now = world_of_now.new_id(), world_of_now.new_id(), world_of_now.clock()
    for statement in (
        "INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)"
        " VALUES (%(group)s, %(organization)s, %(name)s, %(now)s, %(now)s)",
        "INSERT INTO directory_authorities (id, organization_id, maker_role)"
        " VALUES (%(authority)s, %(organization)s, 'owner')",
        "INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)"
        " SELECT %(organization)s, %(group)s, id, %(authority)s FROM users WHERE email = %(admin)s",
    ):
        connection.execute(
            statement,
            {
                "organization": organization_id,
                "group": group_id,
                "authority": authority_id,
                "name": ADMINS,
                "admin": ADMIN,
                "now": now,
            },
        )
    return Administrator(site.url)


@pytest.fixture
def connected(administrator: Administrator, program: Program, tmp_path: Path) -> Running:
    """Connects the program and runs it; takes the arguments of `Administrator.connect`."""

    @contextmanager
    def run(**options: Any) -> Generator[Connected]:
        url = f"http://localhost:{free_port()}"
        made = administrator.connect(program.word, url, **options)
        with program.running(made, tmp_path):
            yield made

    return run


def test_a_member_signs_in_and_out(program: Program, connected: Running, watch: Callable[..., Watched]) -> None:
    page = watch().page

    with connected() as made:
        shown = signed_in(program, page, made, MEMBER)
        if program.signs_out:
            program.sign_out(page)
            reaches(page, made)
            wait_until(lambda: MEMBER not in program.shown(page))
            # Signed out at Gatehouse too, where the next one is asked who that is.
            program.begin(page, made.url)
            page.get_by_label("Email address").wait_for()

    assert shown == MEMBER


def test_who_is_in_the_group_is_an_admin_there_or_is_made_one(
    program: Program, connected: Running, tmp_path: Path, watch: Callable[..., Watched]
) -> None:
    page = watch().page

    with connected() as made:
        shown = signed_in(program, page, made, ADMIN)
    if isinstance(program, MakesAdmins):
        assert shown == ADMIN
        program.make_admin(made, tmp_path, ADMIN)
        with program.running(made, tmp_path):
            shown = program.shown(page)

    assert shown == f"{ADMIN} (admin)"


def test_a_session_that_ends_here_ends_there(
    program: Program, connected: Running, site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch().page
    if not RECIPES[program.word].backchannel_uri:
        pytest.skip("it is not told")

    with connected() as made:
        signed_in(program, page, made, MEMBER)
        page.goto(f"{made.issuer}/auth/logout")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_text("You are signed out").wait_for()
        site.work(send_notices)
        page.goto(f"{made.url}/")

        assert MEMBER not in program.shown(page)


def test_a_stranger_reads_why_and_gets_back_and_who_was_chosen_is_an_admin_there(
    program: Program, connected: Running, watch: Callable[..., Watched]
) -> None:
    page = watch().page

    with connected(is_for_chosen=True) as made:
        program.begin(page, made.url)
        sign_in(page, STRANGER)
        page.get_by_text(REFUSED).wait_for()
        page.get_by_role("button", name="Back to Shop").click()
        reaches(page, made)
        page.goto(f"{made.url}/")

        if program.sends_at_once:
            # To Gatehouse, whose refusal names the person.
            assert not page.url.startswith(made.url)
        else:
            assert STRANGER not in page.inner_text("body")
        shown = signed_in(program, watch().page, made, CHOSEN)

    assert shown == (f"{CHOSEN} (admin)" if program.has_admins else CHOSEN)


def test_a_wrong_secret_lets_nobody_in_and_is_found(
    program: Program, connected: Running, administrator: Administrator, watch: Callable[..., Watched]
) -> None:
    page = watch().page
    if not program.has_secret:
        pytest.skip("it has no secret")

    with connected(secret="another-secret-than-that-of-the-service") as made:
        program.begin(page, made.url)
        sign_in(page, MEMBER)
        reaches(page, made)
        page.goto(f"{made.url}/")
        assert MEMBER not in page.inner_text("body")

    administrator.finds_trouble(watch().page, "The application did not prove who it is")


def signed_in(program: Program, page: Page, made: Connected, email: str) -> str:
    """Sign a person in to the program, and return what it says of them."""
    program.begin(page, made.url)
    sign_in(page, email)
    reaches(page, made)
    shown = ""

    def is_shown() -> bool:
        nonlocal shown
        shown = program.shown(page)
        return email in shown

    wait_until(is_shown)
    return shown


def reaches(page: Page, made: Connected) -> None:
    """Wait until the browser is at the program."""
    page.wait_for_url(lambda url: url.startswith(made.url))
