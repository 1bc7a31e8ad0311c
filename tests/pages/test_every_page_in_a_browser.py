"""Every page of the crawl in a browser: accessible, no wider than a phone, in light and in dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests import axe
from tests.browser import Site, Watched
from tests.pages.crawl.recording import Recorder, Shown, telling
from tests.pages.crawl.serving import routes_of
from tests.postgres import Databases

# Parts of pages, and a page whose frames are with the server that has its mails (`mail/test_mailbox.py`).
LEFT_OUT = {
    "audit/browser_feed.html",
    "console/found_options.html",
    "mail/mailbox.html",
    "organizations/settings/branding_preview_notes.html",
    "services/first_sign_ins.html",
}
# The frame with the preview of a brand and the feed of a log; and what the browser says of both without their address.
ELSEWHERE = (
    "/branding/preview",
    "/audit/feed",
    "Failed to load resource: net::ERR_FAILED",
    "Failed to execute 'postMessage' on 'DOMWindow'",
)
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": "light"}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}
# A control that is smaller is hard to hit (WCAG 2.2, 2.5.8); links in a sentence may be.
TARGET_PIXELS_MIN = 24


@pytest.fixture(scope="module")
def pages(crawled: Recorder) -> dict[str, Shown]:
    """The pages of the crawl by their names: of each template those that differ."""
    shown = [page for page in telling(crawled.shown) if page.template not in LEFT_OUT]
    return {f"{number} {page.name}": page for number, page in enumerate(shown)}


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair], pages: dict[str, Shown]) -> Iterator[Site]:
    """A running server with these pages."""

    async def prepare(database: PostgresDatabase) -> None:
        """Add nothing."""

    with databases.migrated() as database_url:
        routes = [*capabilities.routes(is_development=True), *routes_of(pages).routes]
        site = Site(routes, database_url, key_pairs, prepare=prepare)
        yield site
        site.close()


def address_of(site: Site, name: str) -> str:
    """Return the address of a page."""
    return f"{site.url}/shown?name={quote(name)}"


def largest(pages: dict[str, Shown], template: str) -> str:
    """Return the name of the page of a template that shows the most."""
    return max(
        (name for name, page in pages.items() if page.template == template), key=lambda name: len(pages[name].html)
    )


def unfiltered(pages: dict[str, Shown], template: str) -> str:
    """Return the name of the page of a list that has the fewest filters set."""
    return min(
        (name for name, page in pages.items() if page.template == template),
        key=lambda name: pages[name].html.count('class="field is-set"'),
    )


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone, light", "wide, dark"])
def test_axe_finds_no_violation_on_any_page(
    site: Site, pages: dict[str, Shown], watch: Callable[..., Watched], options: dict[str, Any]
) -> None:
    watched = watch(**options)

    found: dict[str, list[str]] = {}
    for name in pages:
        watched.page.goto(address_of(site, name))
        found[name] = axe.violations(watched.page)

    assert {name: violations for name, violations in found.items() if violations} == {}
    assert unexpected(watched) == []


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(
    "options", [PHONE | {"color_scheme": "dark"}, WIDE | {"color_scheme": "light"}], ids=["phone, dark", "wide, light"]
)
def test_axe_finds_no_violation_on_a_page_of_each_template_in_the_other_colours(
    site: Site, pages: dict[str, Shown], watch: Callable[..., Watched], options: dict[str, Any]
) -> None:
    watched = watch(**options)

    found: dict[str, list[str]] = {}
    for template in {page.template for page in pages.values()}:
        name = largest(pages, template)
        watched.page.goto(address_of(site, name))
        found[name] = axe.violations(watched.page)

    assert {name: violations for name, violations in found.items() if violations} == {}


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("en", "rtl"), ("de", "ltr")])
def test_no_page_is_wider_than_a_phone_and_every_control_can_be_hit(
    site: Site, pages: dict[str, Shown], watch: Callable[..., Watched], language: str, direction: str
) -> None:
    opened = watch(**PHONE, locale=language).page

    wide: list[str] = []
    small: list[str] = []
    for name in pages:
        opened.goto(address_of(site, name))
        opened.evaluate("direction => { document.documentElement.dir = direction }", direction)
        opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        if opened.evaluate("document.documentElement.scrollWidth") > PHONE["viewport"]["width"]:
            wide.append(name)
        small += [f"{name}: {one}" for one in opened.evaluate(SMALL_CONTROLS, TARGET_PIXELS_MIN)]

    assert wide == []
    assert small == []


@pytest.mark.browser
@pytest.mark.long
def test_every_control_of_every_page_is_reached_with_the_keyboard_in_its_order(
    site: Site, pages: dict[str, Shown], watch: Callable[..., Watched]
) -> None:
    opened = watch(**PHONE).page

    for name in pages:
        opened.goto(address_of(site, name))
        controls = opened.evaluate(CONTROLS)
        reached: list[str] = opened.evaluate(FROM_THE_FIRST)
        reached += [next_control(opened) for _ in controls[len(reached) :]]
        assert reached == controls, name


@pytest.mark.browser
@pytest.mark.long
def test_a_slug_is_proposed_until_it_is_typed_a_colour_is_picked_and_a_phone_begins_with_the_list(
    site: Site, pages: dict[str, Shown], watch: Callable[..., Watched]
) -> None:
    watched = watch(**WIDE)
    wide, phone = watched.page, watch(**PHONE).page

    wide.goto(address_of(site, largest(pages, "organizations/roles.html")))
    name, slug = wide.get_by_label("Name", exact=True), wide.get_by_label("Slug")
    slug.fill("")
    slugs: list[str] = []
    for typed in ("Größe & Co.", "Größe & Co. Ünïted", "G"):
        name.fill(typed)
        slugs.append(slug.input_value())
    slug.fill("mine")
    name.fill("Another")
    slugs.append(slug.input_value())
    wide.goto(address_of(site, largest(pages, "organizations/settings/branding.html")))
    wide.get_by_label("Main colour: Pick the colour").fill("#123456")
    picked = wide.get_by_label("Main colour", exact=False).first.input_value()
    shown: list[bool] = []
    for page in (wide, phone):
        page.goto(address_of(site, unfiltered(pages, "webhooks/deliveries.html")))
        # The first filters are a line on a wide screen; on a phone all of them are a key away.
        first, folded = page.get_by_label("Event", exact=True), page.get_by_label("Until (UTC)")
        shown += [first.is_visible(), folded.is_visible()]
        page.get_by_text("Search and filter").press("Enter")
        shown.append(folded.is_visible())

    assert slugs == ["grosse-co", "grosse-co-united", "g", "mine"]
    assert picked == "#123456"
    assert shown == [True, False, True, False, False, True]
    assert unexpected(watched) == []


def unexpected(watched: Watched) -> list[str]:
    """Return the problems of a page, without what only the server with the organization has."""
    return [one for one in watched.problems if not any(part in one for part in ELSEWHERE)]


def next_control(page: Page) -> str:
    """Press Tab until another control has the focus, since a field for a date has several stops; return it."""
    before = now = page.evaluate(FOCUSED)
    for _ in range(STOPS_OF_A_DATE_MAX):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUSED)
        if now != before or 'type="date' not in now:
            break
    return str(now)


# What can be used, apart from links in a sentence and what is not shown.
SMALL_CONTROLS = """
least => [...document.querySelectorAll('main button, main input, main summary, main a.button, nav a')]
  .filter(one => one.checkVisibility() && one.type !== 'hidden')
  .filter(one => { const box = one.getBoundingClientRect(); return box.height < least || box.width < least; })
  .map(one => one.outerHTML.slice(0, 120))
"""
FOCUSED = "document.activeElement.outerHTML"
# The day, the month, the year, the hour, the minute, its half of the day, and the calendar.
STOPS_OF_A_DATE_MAX = 7
# A page that focuses a field is walked from its first control all the same.
FROM_THE_FIRST = """
() => {
  if (document.activeElement === document.body) return [];
  document.querySelector('a[href]').focus();
  return [document.activeElement.outerHTML];
}
"""
# Arrow keys reach the radio buttons that are not chosen; where none is chosen, Tab reaches the first.
CONTROLS = """
[...document.querySelectorAll(
    'a[href], button:enabled, input:enabled, select, textarea, summary, iframe[name], [tabindex="0"]')]
  .filter(one => one.checkVisibility() && one.type !== 'hidden')
  .filter(one => {
    const alike = one.type === 'radio' ? [...document.getElementsByName(one.name)] : [one];
    return one.type !== 'radio' || one.checked || (one === alike[0] && !alike.some(other => other.checked));
  })
  .map(one => one.outerHTML)
"""
