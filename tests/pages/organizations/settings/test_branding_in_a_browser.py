"""An admin gives the organization a look of its own in a real browser, without scripts, and with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import FrameLocator, Page

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.pictures import drawn_png
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

PHONE = {"width": 320, "height": 700}
WIDE = {"width": 1280, "height": 900}
RED = "rgb(192, 0, 0)"
COLOR_OF_BUTTON = "one => getComputedStyle(one).backgroundColor"


async def prepare(database: PostgresDatabase) -> None:
    """Add nothing."""


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an active organization."""
    builder.member(builder.organization(name="Acme Tools"), builder.user(), "owner")
    with running_site(database_url, key_pairs, prepare=prepare) as site:
        yield site


def open_branding(page: Page, site: Site) -> FrameLocator:
    """Open the page by the navigation; return the frame of the preview."""
    page.goto(f"{site.url}/app/organizations/acme")
    sign_in(page)
    page.wait_for_url("**/app/organizations/acme")
    if page.get_by_role("button", name="Menu").is_visible():
        page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("navigation", name="Organization").get_by_role("link", name="Branding").click()
    return page.frame_locator("iframe[name=preview]")


@pytest.mark.parametrize(
    ("has_scripts", "viewport"), [(False, PHONE), (True, WIDE)], ids=["no scripts, phone", "scripts, wide"]
)
def test_a_colour_is_chosen_looked_at_saved_and_taken_back(
    site: Site, watch: Callable[..., Watched], viewport: dict[str, int], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport=viewport, color_scheme="light")
    page = watched.page
    frame = open_branding(page, site)
    frame.get_by_text("this is the look of the platform").wait_for()

    page.locator("#primary_color").fill("#c00000")
    page.get_by_label("Logo", exact=False).first.set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": drawn_png(120, 40)}
    )
    page.get_by_role("button", name="Sign-in page").press("Enter")
    frame.get_by_text("Contrast of the main colour and white").wait_for()
    in_frame = frame.locator("form .button").first.evaluate(COLOR_OF_BUTTON)
    logo = frame.locator(".brand-head img").evaluate("image => image.complete && image.naturalWidth")
    page.get_by_label("In dark colours").check()
    page.get_by_role("button", name="Registration").press("Enter")
    frame.get_by_text("Create an account").first.wait_for()
    ground_of_dark = frame.locator("body").evaluate(COLOR_OF_BUTTON)
    page.get_by_role("button", name="Mail", exact=True).press("Enter")
    frame.get_by_text("A mail that signs a person in").wait_for()
    page.get_by_label("As wide as a phone").check()
    width = page.locator("iframe[name=preview]").evaluate("one => one.clientWidth")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    page.get_by_text("The branding is saved.").wait_for()
    frame.locator(".brand-head img").wait_for()
    saved = frame.locator("form .button").first.evaluate(COLOR_OF_BUTTON)
    page.locator("summary[aria-label='Actions for version 1']").press("Enter")
    page.locator(".row-menu[open]").get_by_role("button", name="Use this version again").press("Enter")
    page.get_by_text("This version of the branding is used again.").wait_for()

    assert (in_frame, saved) == (RED, RED)
    assert logo == 120
    assert ground_of_dark == "rgb(17, 22, 20)"
    assert width <= 360
    assert page.locator("#primary_color").input_value() == ""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert watched.problems == []


def test_with_scripts_a_change_is_shown_at_once(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(viewport=WIDE, color_scheme="light")
    page = watched.page
    frame = open_branding(page, site)
    frame.get_by_text("this is the look of the platform").wait_for()

    page.locator("#primary_color").fill("#ffcc00")
    page.locator("#background_color").focus()
    frame.get_by_text("too low").first.wait_for()
    page.get_by_role("button", name="Registration").click()
    frame.get_by_role("heading", name="Create an account").wait_for()
    page.locator("#primary_color").fill("#c00000")
    page.locator("#background_color").focus()
    frame.get_by_text("6.5, good").first.wait_for()

    assert frame.get_by_text("Create an account").first.is_visible()
    assert page.evaluate("document.activeElement.id") == "background_color"
    assert [problem for problem in watched.problems if "400" not in problem] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_page_and_in_the_frame(site: Site, watch: Callable[..., Watched], scheme: str) -> None:
    page = watch(viewport=WIDE, color_scheme=scheme).page
    frame = open_branding(page, site)
    frame.get_by_text("this is the look of the platform").wait_for()

    assert violations(page) == []
