"""A new owner in a real browser, without scripts: a setup link, a copied role, and the mail server with its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.mail_server import PostOffice
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an active organization."""
    builder.member(builder.organization(), builder.user(), "owner")
    with running_site(database_url, key_pairs) as site:
        yield site


def open_section(page: Page, url: str, name: str) -> None:
    """Open a section by the navigation of the overview, with the keyboard."""
    page.goto(url)
    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("navigation", name="Organization").get_by_role("link", name=name).press("Enter")


def test_an_owner_makes_a_link_copies_a_role_and_tests_the_mail_server(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page, overview = watched.page, f"{site.url}/app/organizations/acme"
    page.goto(overview)
    sign_in(page)

    open_section(page, overview, "Setup links")
    page.get_by_label("Your own domain").press("Space")
    page.get_by_role("button", name="Create the link").press("Enter")
    link = page.get_by_label("Setup link", exact=True).input_value()
    WATCH.add(link.rpartition("/")[2])
    text = page.get_by_label("A text for the mail to the IT staff").input_value()

    open_section(page, overview, "Roles")
    page.locator("summary[aria-label='Actions for member']").press("Enter")
    page.locator(".row-menu[open]").get_by_role("link", name="Copy").press("Enter")
    page.get_by_label("Name", exact=True).fill("Help desk")
    page.get_by_label("Slug").fill("helpdesk")
    page.get_by_label("Help the end users").press("Space")
    page.get_by_role("button", name="Create the role").press("Enter")
    role = page.get_by_role("heading", level=1).inner_text()
    preview = page.get_by_role("region", name="What a member with this role sees").inner_text()

    with PostOffice().open() as office:
        open_section(page, overview, "Mail server")
        page.get_by_label("Host").fill("127.0.0.1")
        page.get_by_label("Port").fill(str(office.port))
        page.get_by_label("Encryption").select_option("none")
        page.get_by_label("Name of the sender").fill("Acme")
        page.get_by_label("Address of the sender").fill("post@acme.example")
        page.get_by_role("button", name="Save").press("Enter")
        page.get_by_role("button", name="Send the test mail").press("Enter")
        answer = page.get_by_role("status").first.inner_text()

    assert link in text
    assert "- Your own domain" in text
    assert role == "Role: Help desk"
    assert "sign-in problems open" in preview.lower()
    assert "The mail server took the test mail." in answer
    assert "The mail server answered: 250" in answer
    assert [one.recipients for one in office.received] == [(EMAIL,)]
    assert link.rpartition("/")[2] not in page.url
    assert watched.problems == []
