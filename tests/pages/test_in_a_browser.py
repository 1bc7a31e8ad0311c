"""The pages as a browser shows them: self-contained, readable, and usable with a keyboard and without scripts."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal

import pytest
from playwright.sync_api import ViewportSize
from quart import Response

from adapters.postgres.database import PostgresDatabase
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.pages.frame.platform_look import look_of
from entrypoints.pages.frame.rendering import HTML, TEMPLATES, Page, protected
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests import axe, specimen
from tests.browser import Site, Watched
from tests.postgres import Databases

pytestmark = [pytest.mark.browser, pytest.mark.long]

WIDE: "ViewportSize" = {"width": 1280, "height": 900}
PHONE: "ViewportSize" = {"width": 320, "height": 640}
CONTRAST_MIN = 4.5
CONTRAST_OF_LARGE_TEXT_MIN = 3.0
TAB_STOPS_CHECKED = 25

ONE_COLUMN = """
{% extends "frame/base.html" %}{% import "frame/components.html" as ui %}
{% block title %}Pieces{% endblock %}{% block body_class %}middle{% endblock %}
{% block main %}<h1>Pieces</h1><p class="lead">All components of pages.</p>
{% for kind in ["info", "good", "warning", "bad"] %}
{% call ui.notice(kind, "A " ~ kind ~ " notice") %}<p>It has a sentence.</p>{% endcall %}
{% endfor %}
<form>{{ ui.field("email", "Address", type="email", hint="Yours.", problem="This is not one.") }}
{{ ui.field("name", "Name", required=false) }}
{{ ui.button("Go on") }}{{ ui.button("Back", href="/", quiet=true) }}</form>
{{ ui.checkbox("trust", "Trust this device", hint="For 30 days.") }}
{% call ui.panel("things", "Things", lead="What there is.") %}{% call ui.rows("Things") %}
{% set badges = [("good", "On"), ("warning", "Soon"), ("bad", "Off"), ("info", "New")] %}
{% call ui.row("A thing", about=["Since yesterday"], badges=badges) %}
{{ ui.button("Remove", quiet=true, danger=true) }}{% endcall %}{% endcall %}{% endcall %}
{% call ui.panel("nothing", "Nothing", danger=true) %}{{ ui.empty("Nothing here yet.") }}
{{ ui.button("Close", danger=true) }}{% endcall %}
{{ ui.facts([("Plan", "Team"), ("A rather long name of a fact", "averylongvaluewithoutanyblankinit@example.com")]) }}
{{ ui.code("curl http://localhost:8000/a/path/that/is/longer/than/a/telephone/is/wide", "A command") }}
{{ ui.table("People", ["Name", "Address", "Role"], [["Ada", "ada.lovelace.the.first@example.com", "owner"]]) }}
{% endblock %}
"""
ONE_CARD = """
{% extends "frame/card.html" %}{% import "frame/components.html" as ui %}
{% block title %}Sign in{% endblock %}{% block heading %}Sign in{% endblock %}
{% block content %}<p>With your account <strong>{{ "an.address.without.a.blank" * 8 }}@example.com</strong>.</p>
<form>{{ ui.field("email", "Address", type="email") }}{{ ui.button("Sign in") }}</form>{% endblock %}
"""
pieces = Routes("pieces", "Pages with every component.")


def shared(call: Call) -> dict[str, Any]:
    """Return what every page of Gatehouse shows."""
    return {"acting": None, "brand": None, "platform": look_of(call.installation.platform), "here": ""}


@pieces.get("/pieces")
@public
async def one_column(call: Call) -> Page:
    """Show every component."""
    return protected(Response(TEMPLATES.from_string(ONE_COLUMN).render(**shared(call)), content_type=HTML))


@pieces.get("/pieces/card")
@public
async def one_card(call: Call) -> Page:
    """Show a card."""
    return protected(Response(TEMPLATES.from_string(ONE_CARD).render(**shared(call)), content_type=HTML))


REFERENCE = ["/docs", "/docs?q=boat", "/docs/reference/boat-houses", "/docs/errors/BAD_REQUEST"]
MANUAL = ["/docs/manual", "/docs/manual?q=verify+webhook", "/docs/manual/getting-started", "/docs/manual/settings"]
PAGES = [*REFERENCE, *MANUAL, "/dev/mailbox", "/pieces", "/pieces/card"]
every_page = pytest.mark.parametrize("path", PAGES)


@pytest.fixture(scope="module")
def site(databases: "Databases", key_pairs: "tuple[KeyPair, KeyPair]") -> "Iterator[Site]":
    """A running service with every route, also of the specimen and of this test, and two mails in its mailbox."""

    async def send_messages(database: "PostgresDatabase") -> None:
        for to in ["ada@example.com", "somebody.with.a.long.name@an.even.longer.name.of.a.host.example.com"]:
            await database.transact(mail.send, to, MailTemplate.TEST)
            for message in await database.transact(mail.claim, 1):
                await database.transact(mail.record_kept, message)

    routes = [*capabilities.routes(is_development=True), *specimen.routes.routes, *pieces.routes]
    with databases.migrated() as database_url:
        site = Site(routes, database_url, key_pairs, prepare=send_messages)
        yield site
        site.close()


def open_all(watched: "Watched") -> None:
    """Open every collapsed element."""
    watched.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@every_page
def test_a_page_loads_without_errors_and_only_from_the_service(
    site: Site, watch: "Callable[..., Watched]", path: str
) -> None:
    watched = watch(viewport=WIDE)

    answer = watched.page.goto(site.url + path)
    open_all(watched)
    watched.page.wait_for_load_state("networkidle")

    assert answer is not None
    assert answer.status == 200
    assert watched.problems == []
    assert [url for url in watched.requests if not url.startswith(site.url + "/")] == []
    assert any(url.endswith(".css") for url in watched.requests)


@every_page
def test_no_page_scrolls_horizontally_on_a_small_phone(site: Site, watch: "Callable[..., Watched]", path: str) -> None:
    watched = watch(viewport=PHONE)
    watched.page.goto(site.url + path)
    open_all(watched)

    assert watched.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@every_page
def test_every_text_has_enough_contrast_in_light_and_in_dark(
    site: Site, watch: "Callable[..., Watched]", path: str
) -> None:
    # No colour is on its way to another one.
    watched = watch(viewport=WIDE, reduced_motion="reduce")
    watched.page.goto(site.url + path)
    open_all(watched)

    measured: list[dict[str, Any]] = []
    for scheme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=scheme)
        measured += watched.page.evaluate(MEASURE_CONTRAST)

    assert len(measured) > 6
    for one in measured:
        enough = CONTRAST_OF_LARGE_TEXT_MIN if one["isLarge"] else CONTRAST_MIN
        assert one["contrast"] >= enough, one


def test_the_background_follows_the_colour_scheme(site: Site, watch: "Callable[..., Watched]") -> None:
    backgrounds = {}
    for scheme in ["light", "dark"]:
        page = watch(color_scheme=scheme).page
        page.goto(site.url + "/docs")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        backgrounds[scheme] = sum(int(part) for part in colour[4:-1].split(","))

    assert backgrounds["dark"] < 3 * 40
    assert backgrounds["light"] > 3 * 215


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(
    site: Site, watch: "Callable[..., Watched]", path: str, scheme: "Literal['light', 'dark']"
) -> None:
    page = watch(viewport=PHONE, color_scheme=scheme).page
    page.goto(site.url + path)

    assert axe.violations(page) == []


def test_axe_finds_a_field_without_a_label(site: Site, watch: "Callable[..., Watched]") -> None:
    page = watch(viewport=PHONE).page
    page.goto(site.url + "/pieces/card")

    page.evaluate("document.querySelector('label').remove()")

    assert [violation.partition(":")[0] for violation in axe.violations(page)] == ["label"]


@every_page
@pytest.mark.parametrize("viewport", [PHONE, WIDE])
def test_a_page_turns_in_a_language_from_right_to_left(
    site: Site, watch: "Callable[..., Watched]", path: str, viewport: "ViewportSize"
) -> None:
    page = watch(viewport=viewport).page
    page.goto(site.url + path)
    before = page.locator("h1").bounding_box()

    page.evaluate("document.documentElement.dir = 'rtl'")

    after = page.locator("h1").bounding_box()
    assert before is not None
    assert after is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).direction") == "rtl"
    assert viewport["width"] - (after["x"] + after["width"]) == pytest.approx(before["x"], abs=1)


@every_page
def test_the_first_tab_stop_skips_the_header(site: Site, watch: "Callable[..., Watched]", path: str) -> None:
    page = watch(viewport=WIDE).page
    page.goto(site.url + path)

    page.keyboard.press("Tab")
    first = page.evaluate("[document.activeElement.innerText, document.activeElement.getBoundingClientRect().top >= 0]")
    page.keyboard.press("Enter")

    assert first == ["Skip to the content", True]
    assert page.evaluate("document.activeElement.id") == "main"


@every_page
def test_the_keyboard_focus_is_visible(site: Site, watch: "Callable[..., Watched]", path: str) -> None:
    page = watch(viewport=WIDE).page
    page.goto(site.url + path)

    for _ in range(TAB_STOPS_CHECKED):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """(() => {
              const focused = document.activeElement, style = getComputedStyle(focused);
              return {is: focused.outerHTML.slice(0, 120), nowhere: focused === document.body,
                      line: style.outlineStyle, width: parseFloat(style.outlineWidth)};
            })()"""
        )
        if focused["nowhere"]:
            break
        assert focused["line"] == "solid", focused
        assert focused["width"] >= 2, focused


@every_page
def test_a_page_has_its_landmarks_and_its_headings_in_order(
    site: Site, watch: "Callable[..., Watched]", path: str
) -> None:
    page = watch(viewport=WIDE).page
    page.goto(site.url + path)

    levels = page.evaluate("[...document.querySelectorAll('main h1, main h2, main h3')].map(one => +one.tagName[1])")

    assert page.locator("main").count() == 1
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(following <= level + 1 for level, following in pairwise(levels))
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.title().endswith(" · Gatehouse")


@every_page
def test_every_page_is_whole_without_scripts(site: Site, watch: "Callable[..., Watched]", path: str) -> None:
    page = watch(java_script_enabled=False).page
    page.goto(site.url + path)

    assert page.locator("main").inner_text().strip()
    # The reference is searched while one types, by keys, and copied from. The manual has no scripts.
    assert page.locator("script").count() == (4 if path in REFERENCE else 0 if path in MANUAL else 1)


@every_page
def test_nothing_is_animated_for_those_who_want_less_motion(
    site: Site, watch: "Callable[..., Watched]", path: str
) -> None:
    page = watch(viewport=WIDE, reduced_motion="reduce").page
    page.goto(site.url + path)

    animated = page.evaluate(
        """[...document.querySelectorAll('*')].map(one => getComputedStyle(one)).filter(
             style => style.transitionDuration !== '0s' || style.animationName !== 'none'
                      || style.scrollBehavior === 'smooth').length"""
    )

    assert animated == 0


def test_an_address_of_the_former_page_leads_to_its_operation_its_page_for_people_or_its_error_code(
    site: Site, watch: "Callable[..., Watched]"
) -> None:
    page = watch(viewport=WIDE).page

    for anchor, address in (
        ("boat_houses_bring", "/docs/reference/boat-houses#boat_houses_bring"),
        ("NOT_FOUND", "/docs/errors/NOT_FOUND"),
        ("sign_in_pages_show_sign_in", "/docs/reference/sign-in-pages#sign_in_pages_show_sign_in"),
        ("unknown", "/docs/pages#unknown"),
    ):
        page.goto(f"{site.url}/docs#{anchor}")
        page.wait_for_url(site.url + address)
        page.goto(f"{site.url}/dev/mailbox")


def test_a_link_to_an_operation_expands_it(site: Site, watch: "Callable[..., Watched]") -> None:
    page = watch(viewport=WIDE).page

    page.goto(site.url + "/docs/reference/boat-houses#boat_houses_bring")

    assert page.locator("#boat_houses_bring").is_visible()
    assert page.locator("#boat_houses_sink").is_hidden()


def test_the_reference_is_searched_while_one_types_and_shown_again_when_nothing_is_left(
    site: Site, watch: "Callable[..., Watched]"
) -> None:
    watched = watch(viewport=WIDE)
    page = watched.page
    page.goto(site.url + "/docs/errors")

    page.keyboard.press("Control+k")
    page.keyboard.type("bring boat")
    page.get_by_role("heading", name="Search results").wait_for()
    page.wait_for_url(f"{site.url}/docs?q=bring+boat")
    found = page.locator("[data-found] a").first.get_attribute("href")
    is_hidden = page.get_by_role("heading", name="Error codes", level=1).is_hidden()
    said = page.locator("[data-found-state]").text_content()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Search results").wait_for()
    page.locator("#find").fill("")
    page.wait_for_url(f"{site.url}/docs")

    assert found == "/docs/reference/boat-houses#boat_houses_bring"
    assert is_hidden
    assert said == "Operations: 1"
    assert page.get_by_role("heading", name="Search results").is_hidden()
    assert watched.problems == []


def test_a_route_is_expanded_with_the_keyboard(site: Site, watch: "Callable[..., Watched]") -> None:
    page = watch(viewport=WIDE).page
    page.goto(site.url + "/docs/reference/boat-houses")

    page.locator("summary", has_text="/boats/picture").focus()
    page.keyboard.press("Enter")

    assert page.locator("#boat_houses_picture").is_visible()


def test_the_contents_stay_visible_on_a_wide_screen(site: Site, watch: "Callable[..., Watched]") -> None:
    page = watch(viewport=WIDE).page
    page.goto(site.url + "/docs")

    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Rate limits").click()

    assert page.locator("#rate-limits").evaluate("one => one.getBoundingClientRect().top") < WIDE["height"]
    assert page.get_by_role("navigation", name="Contents").evaluate("one => one.getBoundingClientRect().top") == 0


def test_the_mailbox_shows_a_mail_as_a_mail_program_would(site: Site, watch: "Callable[..., Watched]") -> None:
    watched = watch(viewport=WIDE)
    watched.page.goto(site.url + "/dev/mailbox")

    watched.page.get_by_text("As a mail program shows it").first.click()
    message = watched.page.frame_locator("iframe").first.get_by_role("main").get_by_text("This is a test mail")

    message.wait_for()
    assert watched.problems == []


# For every element with its own text: the contrast to the first opaque background behind it (WCAG 2.2).
MEASURE_CONTRAST = """
(() => {
  const parse = colour => colour.match(/[\\d.]+/g).map(Number);
  const channel = value => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
    if (!text || element.closest('svg')) continue;
    const style = getComputedStyle(element);
    const [one, other] = [luminance(parse(style.color)), luminance(ground(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    found.push({text: text.slice(0, 40), tag: element.tagName, color: style.color, ground: ground(element).join(),
                contrast: (one + 0.05) / (other + 0.05),
                isLarge: size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700)});
  }
  return found;
})()
"""
