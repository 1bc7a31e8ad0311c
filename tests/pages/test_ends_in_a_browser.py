"""Ends and their next steps in a real browser, with and without scripts; the focus; and passwords that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from core.sessions.signing_keys import KeyPair
from tests import axe
from tests.account_site import running_site_with_account
from tests.browser import Site, Watched
from tests.postgres import Databases
from tests.world.builder import EMAIL, PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.long]

PHONE = {"width": 320, "height": 640}
WIDE = {"width": 1280, "height": 900}
DEAD_LINKS = ("/auth/reset-password", "/auth/verify-email", "/auth/magic-link", "/auth/undo-email-change")
with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account."""
    with databases.migrated() as database_url, running_site_with_account(database_url, key_pairs) as site:
        yield site


def heading(page: Page) -> str:
    """Return the heading of a page."""
    return page.locator("h1").inner_text()


def focused(page: Page) -> str:
    """Return the id of the element that has the focus; a browser gives it a moment after the element is there."""
    page.wait_for_function("document.activeElement !== document.body")
    return page.evaluate("document.activeElement.id")


def enter_address(page: Page, site: Site) -> None:
    """Take the first step of a sign-in."""
    page.goto(f"{site.url}/app/sign-in")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").click()


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["phone", "wide"])
@with_and_without_scripts
def test_an_address_without_a_page_leads_to_the_start_page(
    site: Site, watch: Callable[..., Watched], viewport: dict[str, int], scripts: bool
) -> None:
    for language, title, button in (
        ("en", "There is no page at this address", "Go to the start page"),
        ("de", "Unter dieser Adresse gibt es keine Seite", "Zur Startseite"),
    ):
        page = watch(java_script_enabled=scripts, viewport=viewport, locale=language).page
        answer = page.goto(f"{site.url}/nonsense")

        assert answer is not None
        assert (answer.status, heading(page)) == (404, title)
        assert page.locator(".request-id code").inner_text() == answer.headers["x-request-id"]
        page.get_by_role("link", name=button).click()
        page.wait_for_url(f"{site.url}/app/sign-in?**")


@with_and_without_scripts
def test_dead_links_lead_to_a_page_that_goes_on(site: Site, watch: Callable[..., Watched], scripts: bool) -> None:
    page = watch(java_script_enabled=scripts).page
    for path in DEAD_LINKS:
        page.goto(f"{site.url}{path}?token=0191d3c1-0000-7000-8000-00000000000f")
        dead = heading(page)
        page.locator("main a.button").first.click()

        assert "not valid" in dead, path
        assert heading(page) in {"Sign in", "Forgot your password?"}, path


@with_and_without_scripts
def test_the_typed_address_goes_along_and_in_no_address_of_a_page(
    site: Site, watch: Callable[..., Watched], scripts: bool
) -> None:
    watched = watch(java_script_enabled=scripts)
    page = watched.page
    enter_address(page, site)

    page.get_by_role("link", name="Forgot your password?").click()
    forgotten = page.get_by_label("Email address").input_value()
    page.get_by_role("link", name="Back to the sign-in").click()
    back = page.get_by_label("Email address").input_value()
    page.get_by_role("link", name="Create an account").click()
    registering = page.get_by_label("Email address").input_value()
    page.get_by_role("link", name="Sign in", exact=True).click()

    assert [forgotten, back, registering, page.get_by_label("Email address").input_value()] == [EMAIL] * 4
    assert [url for url in watched.requests if "@" in url or "%40" in url] == []
    assert watched.problems == []


def test_the_first_empty_field_has_the_focus_or_the_one_with_a_problem(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch().page
    page.goto(f"{site.url}/app/sign-in")
    found = [focused(page)]
    enter_address(page, site)
    page.wait_for_selector("#password")
    found.append(focused(page))
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem")
    found.append(focused(page))
    described = page.locator("#password").get_attribute("aria-describedby")
    page.goto(f"{site.url}/app/register")
    found.append(focused(page))

    # The address that was typed is proposed.
    assert found == ["email", "password", "password", "password"]
    assert described == "problem"


def test_a_password_can_be_seen_and_is_sent_as_one(site: Site, watch: Callable[..., Watched]) -> None:
    for language, label, button in (("en", "Password", "Show password"), ("de", "Passwort", "Passwort anzeigen")):
        watched = watch(locale=language, viewport=PHONE)
        page = watched.page
        page.goto(f"{site.url}/app/sign-in")
        page.locator("#email").fill(EMAIL)
        page.keyboard.press("Enter")
        toggle = page.get_by_role("button", name=button)
        page.get_by_label(label).fill(PASSWORD)

        toggle.click()
        shown = (page.locator("#password").get_attribute("type"), toggle.get_attribute("aria-pressed"))
        violations = axe.violations(page)
        toggle.click()
        hidden = (page.locator("#password").get_attribute("type"), toggle.get_attribute("aria-pressed"))
        toggle.click()
        page.locator("#password").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.url}/app/account")

        assert (shown, hidden) == (("text", "true"), ("password", "false"))
        assert violations == []
        assert watched.problems == []


def test_without_scripts_no_button_promises_to_show_a_password(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(java_script_enabled=False).page
    enter_address(page, site)

    assert page.get_by_role("button", name="Show password").count() == 0
    assert page.locator("#password").get_attribute("type") == "password"
