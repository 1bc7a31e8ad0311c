"""The palette of the consoles in a real browser: by the keyboard alone, in German, on a phone and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, PASSWORD, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCREEN: Any = {"width": 1280, "height": 800}
PHONE: Any = {"width": 360, "height": 720}
ACME = "/app/organizations/acme"
FOCUSED = "document.activeElement.id"


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner, who owns an organization with a service and a member."""
    acme = builder.organization()
    builder.service(acme, "shop", name="Harbour shop")
    builder.member(acme, builder.user(is_platform_owner=True), "owner")
    builder.member(acme, builder.user("bob@example.com"), "member")
    with running_site(database_url, key_pairs) as site:
        yield site


def opened(page: Page, address: str) -> Locator:
    """Sign in on the way to a page, and open the palette there by its key."""
    page.goto(address)
    sign_in(page)
    page.get_by_role("button", name="Find").wait_for()
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("option").first.wait_for()
    return dialog


def chosen(dialog: Locator) -> str:
    """Return the text of the option that the field names as the active one."""
    active = dialog.get_by_role("combobox").get_attribute("aria-activedescendant")
    assert active is not None
    option = dialog.locator(f"#{active}")
    assert option.get_attribute("aria-selected") == "true"
    assert dialog.locator('[aria-selected="true"]').count() == 1
    return option.inner_text().replace("\n", " ").strip()


def search_for(dialog: Locator, text: str) -> None:
    """Type a text, and wait for what it finds."""
    dialog.get_by_role("combobox").fill(text)
    dialog.get_by_role("option", name=f"“{text}”").or_(dialog.get_by_role("option", name=f"„{text}“")).wait_for()


def test_the_keyboard_alone_finds_chooses_and_opens(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(viewport=SCREEN)
    page = watched.page
    dialog = opened(page, f"{site.url}{ACME}/people")

    # Without a text nothing is chosen, and Enter opens nothing.
    assert dialog.get_by_role("combobox").get_attribute("aria-activedescendant") is None
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    first = chosen(dialog)
    page.keyboard.press("ArrowUp")
    last = chosen(dialog)
    page.keyboard.press("ArrowDown")
    assert (first, chosen(dialog)) == ("Invite people", first)
    assert last != first

    search_for(dialog, "create service")
    assert chosen(dialog) == "Create a service"
    said = dialog.get_by_role("status").inner_text()
    count = dialog.get_by_role("option").count()
    assert said == f"{count - 1} results"
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}{ACME}/services/new")

    # Who types quickly presses Enter before the answer is there.
    page.keyboard.press("Control+k")
    page.keyboard.type("bob@exam")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}{ACME}/people/*")
    assert page.get_by_role("heading", level=1).inner_text() == "bob@example.com"

    # The form of an action is open.
    page.keyboard.press("Control+k")
    page.keyboard.type("invite people")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}{ACME}/people/invited#invite-form")
    assert page.get_by_label("Email addresses").is_visible()
    assert watched.problems == []


def test_the_focus_stays_inside_and_comes_back(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(viewport=SCREEN)
    page = watched.page
    dialog = opened(page, f"{site.url}{ACME}/people")
    seen: set[str] = set()
    for _ in range(6):
        seen.add(page.evaluate(FOCUSED))
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")

    # Of the page nothing; a browser has its own controls in between.
    assert {"palette-field", "palette-close"} <= seen <= {"palette-field", "palette-close", ""}
    assert not dialog.is_visible()
    page.get_by_label("Part of the address").focus()
    for key in ("Control+k", "Control+k"):
        page.keyboard.press(key)
    assert (dialog.is_visible(), page.evaluate(FOCUSED)) == (False, "search")
    page.locator("main").focus()
    page.keyboard.press("/")
    assert (dialog.is_visible(), page.evaluate(FOCUSED)) == (True, "palette-field")
    page.keyboard.type("/?")
    assert dialog.get_by_role("combobox").input_value() == "/?"
    page.keyboard.press("Escape")
    opener = page.get_by_role("button", name="Find")
    opener.click()
    page.mouse.click(5, 5)
    assert (dialog.is_visible(), page.evaluate(FOCUSED)) == (False, "palette-opener")
    assert watched.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [SCREEN, PHONE], ids=["screen", "phone"])
def test_axe_finds_nothing_and_all_fits(site: Site, watch: Callable[..., Watched], scheme: str, viewport: Any) -> None:
    watched = watch(viewport=viewport, color_scheme=scheme)
    page = watched.page
    for root in (f"{ACME}/people", "/app/platform", "/app/account"):
        page.goto(site.url + root)
        if page.get_by_label("Email address").is_visible():
            sign_in(page)
        page.get_by_role("button", name="Find").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("option").first.wait_for()
        found = violations(page)
        search_for(dialog, "pass")
        assert (root, found, violations(page)) == (root, [], [])
        box = dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        heights = [one.bounding_box() for one in dialog.get_by_role("option").all()]
        assert min(box["height"] for box in heights if box is not None) >= 28
        dialog.get_by_role("button").click()
        assert not dialog.is_visible()
    assert watched.problems == []


def test_on_a_phone_in_german_a_service_is_found_by_touch(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(viewport=PHONE, locale="de", has_touch=True)
    page = watched.page
    page.goto(site.url + ACME)
    page.get_by_label("E-Mail-Adresse").fill(EMAIL)
    page.get_by_role("button", name="Weiter").press("Enter")
    page.get_by_label("Passwort").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden", exact=True).press("Enter")
    page.get_by_role("button", name="Suchen").tap()
    dialog = page.get_by_role("dialog")
    search_for(dialog, "passkey hinzufügen")
    assert chosen(dialog) == "Passkey hinzufügen Ihr Konto"
    assert dialog.get_by_role("status").inner_text() == "Ein Ergebnis"
    search_for(dialog, "harbour")
    dialog.get_by_role("option", name="Harbour shop").tap()
    page.wait_for_url(f"{site.url}{ACME}/services/shop")

    assert watched.problems == []


def test_when_the_session_has_ended_enter_leads_to_the_page_that_says_so(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch(viewport=SCREEN).page
    dialog = opened(page, f"{site.url}{ACME}/people")
    page.context.clear_cookies()

    dialog.get_by_role("combobox").fill("harbour")
    dialog.get_by_text("Enter opens the page with the results.").wait_for()
    assert dialog.get_by_role("option").count() == 0
    page.keyboard.press("Enter")
    page.get_by_label("Email address").wait_for()


def test_without_scripts_the_field_finds_the_same(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(viewport=SCREEN, java_script_enabled=False).page
    page.goto(f"{site.url}{ACME}/people")
    sign_in(page)
    page.get_by_label("Find people").fill("pass")
    page.get_by_label("Find people").press("Enter")
    page.get_by_role("heading", name="Pages and actions").wait_for()

    assert not page.get_by_role("button", name="Find").is_visible()
    assert page.get_by_role("heading", level=2).first.inner_text() == "Pages and actions"
    assert page.locator("main .row-title").first.inner_text() == "Password"
    page.get_by_role("link", name="Open Passkeys").click()
    page.wait_for_url(f"{site.url}/app/account/passkeys")
