"""Every page in a browser, with sample values: accessible, no wider than a phone, in light and in dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.frame.rendering import TEMPLATES, render
from tests import axe
from tests.browser import Site, Watched
from tests.pages.read_texts import texts_read_badly
from tests.pages.samples import NAME, SAMPLES, samples
from tests.postgres import Databases

# Frames and parts of other pages, and pages that `test_in_a_browser.py` opens.
OTHERS = {
    "audit/browser_feed.html",
    "audit/siem_components.html",
    "console/account.html",
    "console/account_components.html",
    "console/audit_entries.html",
    "console/components.html",
    "console/frame.html",
    "console/icons.html",
    "console/keys.html",
    "console/mail_components.html",
    "console/person_records.html",
    "console/platform_components.html",
    "console/platform_frame.html",
    "console/plots.html",
    "console/sign_in_plots.html",
    "frame/base.html",
    "frame/card.html",
    "frame/components.html",
    "frame/impersonation_banner.html",
    "frame/platform_look.html",
    "mail/mailbox.html",
    "organizations/bulk_jobs_components.html",
    "organizations/organizations_components.html",
    "organizations/roles_components.html",
    "organizations/settings/branding_preview_notes.html",
    "organizations/settings/domain_components.html",
    "organizations/tiers_components.html",
    "platform/sign_in_walks.html",
    "platform/system_frame.html",
    "platform/users_components.html",
    "platform/users_frame.html",
    "reference/components.html",
    "reference/errors.html",
    "reference/errors_one.html",
    "reference/events.html",
    "reference/frame.html",
    "reference/reference.html",
    "reference/reference_area.html",
    "reference/reference_found.html",
    "reference/reference_pages.html",
    "saml/configuration_components.html",
    "saml/sign_in_components.html",
    "scim/tokens_components.html",
    "services/first_sign_ins.html",
    "services/first_sign_ins_line.html",
    "services/kinds.html",
    "services/workloads_components.html",
    "services/plans_components.html",
    "services/sales_components.html",
    "services/standing.html",
    "sign_in/conclusion_customers.html",
    "sign_in/upstream/connections_components.html",
    "sign_in/upstream/trials_components.html",
    "webhooks/webhooks_components.html",
}
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": "light"}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}
# A control that is smaller is hard to hit (WCAG 2.2, 2.5.8); links in a sentence may be.
TARGET_PIXELS_MIN = 24


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a sample of every page."""

    async def prepare(database: PostgresDatabase) -> None:
        """Add nothing."""

    with databases.migrated() as database_url:
        routes = [*capabilities.routes(is_development=True), *samples.routes]
        site = Site(routes, database_url, key_pairs, prepare=prepare)
        yield site
        site.close()


def test_every_template_has_a_sample() -> None:
    assert set(TEMPLATES.list_templates(extensions=["html"])) == SAMPLES.keys() | OTHERS


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_page_is_rendered_in_every_language_with_every_value_escaped(tag: str) -> None:
    for name, values in SAMPLES.items():
        html = render(name, LANGUAGES[tag], version="1.2.3", **values)

        assert f'<html lang="{tag}"' in html, name
        assert NAME not in html, name
        assert "<b>" not in html, name
        assert texts_read_badly(html) == [], name


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>No sign-in yet.Sign-ins have failed.</p>", ["No sign-in yet.Sign-ins have failed."]),
        ("<p><a>Hide</a>the rest</p>", ["Hide|the rest"]),
        ("<p>Read <code>name</code>first</p>", ["Read x|first"]),
        ('<p><a aria-label="Refused: 3">3</a></p>', ["a label beside its text: Refused: 3"]),
        ("<ul><li>One.</li><li>Two.</li></ul><p>Three: <b>four</b>, (<i>five</i>)</p>", []),
        ('<p>ann@a.example<span class="beneath">Ann</span> <svg aria-hidden="true"></svg>v1.2</p>', []),
    ],
)
def test_texts_that_run_together_or_are_read_twice_are_found(html: str, found: list[str]) -> None:
    assert texts_read_badly(html) == found


def test_every_page_of_the_console_loads_its_keys() -> None:
    pages = {name: render(name, LANGUAGES["en"], version="1.2.3", **values) for name, values in SAMPLES.items()}
    of_console = {name: html for name, html in pages.items() if '<dialog class="keys"' in html}

    assert {"audit/audit_log.html", "platform/audit_log.html"} <= of_console.keys()
    assert [name for name, html in of_console.items() if not re.search(r'<script src="[^"]*keys[^"/]*"', html)] == []


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone, light", "wide, dark"])
def test_axe_finds_no_violation_on_any_page(site: Site, watch: Callable[..., Watched], options: dict[str, Any]) -> None:
    watched = watch(**options)

    found: dict[str, list[str]] = {}
    for name in SAMPLES:
        watched.page.goto(f"{site.url}/samples?template={name}")
        found[name] = axe.violations(watched.page)

    assert {name: violations for name, violations in found.items() if violations} == {}
    assert watched.problems == []


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("en", "rtl"), ("de", "ltr")])
def test_no_page_is_wider_than_a_phone_and_every_control_can_be_hit(
    site: Site, watch: Callable[..., Watched], language: str, direction: str
) -> None:
    opened = watch(**PHONE, locale=language).page

    wide: list[str] = []
    small: list[str] = []
    for name in SAMPLES:
        opened.goto(f"{site.url}/samples?template={name}")
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
    site: Site, watch: Callable[..., Watched]
) -> None:
    opened = watch(**PHONE).page

    for name in SAMPLES:
        opened.goto(f"{site.url}/samples?template={name}")
        controls = opened.evaluate(CONTROLS)
        reached: list[str] = opened.evaluate(FROM_THE_FIRST)
        reached += [next_control(opened) for _ in controls[len(reached) :]]
        assert reached == controls, name


@pytest.mark.browser
@pytest.mark.long
def test_a_slug_is_proposed_until_it_is_typed_a_colour_is_picked_and_a_phone_begins_with_the_list(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(**WIDE)
    wide, phone = watched.page, watch(**PHONE).page

    wide.goto(f"{site.url}/samples?template=organizations/roles.html")
    name, slug = wide.get_by_label("Name", exact=True), wide.get_by_label("Slug")
    slug.fill("")
    slugs: list[str] = []
    for typed in ("Größe & Co.", "Größe & Co. Ünïted", "G"):
        name.fill(typed)
        slugs.append(slug.input_value())
    slug.fill("mine")
    name.fill("Another")
    slugs.append(slug.input_value())
    wide.goto(f"{site.url}/samples?template=organizations/settings/branding.html")
    wide.get_by_label("Main colour: Pick the colour").fill("#123456")
    picked = wide.get_by_label("Main colour", exact=False).first.input_value()
    shown: list[bool] = []
    for page in (wide, phone):
        page.goto(f"{site.url}/samples?template=audit/audit_log.html")
        shown.append(page.get_by_label("Id of the request").is_visible())
    phone.get_by_text("Search and filter").press("Enter")
    shown.append(phone.get_by_label("Id of the request").is_visible())

    assert slugs == ["grosse-co", "grosse-co-united", "g", "mine"]
    assert picked == "#123456"
    assert shown == [True, False, True]
    # The frame with the preview of a brand is no sample, and is left empty.
    assert [one for one in watched.problems if "/branding/preview" not in one] == []


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
# Of several radio buttons the arrow keys reach those that are not chosen.
CONTROLS = """
[...document.querySelectorAll(
    'a[href], button:enabled, input:enabled, select, textarea, summary, iframe[name], [tabindex="0"]')]
  .filter(one => one.checkVisibility() && one.type !== 'hidden' && (one.type !== 'radio' || one.checked))
  .map(one => one.outerHTML)
"""
