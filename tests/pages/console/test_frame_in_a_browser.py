"""The frame of the consoles in a real browser: what fits a screen, what folds, and what a phone shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCREEN: Any = {"width": 1280, "height": 800}
PHONE: Any = {"width": 390, "height": 844}
MEMBERS = 20
INVITED = "somebody.with.a.long.name@an.even.longer.name.example"
ACME = "/app/organizations/acme"
# The rows of a table that are seen whole without scrolling.
ROWS_SEEN = """
[...document.querySelectorAll('tbody tr')].filter(row => row.getBoundingClientRect().bottom <= innerHeight).length
"""
# The focus ring of a control, cut off by a part of the page that scrolls or hides what is outside of it.
CLIPPED_RINGS = """
() => {
  const clipped = [];
  for (const one of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')) {
    if (!one.checkVisibility()) continue;
    one.focus({preventScroll: true});
    const style = getComputedStyle(one);
    const reach = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
    if (style.outlineStyle === 'none' || reach <= 0) continue;
    const box = one.getBoundingClientRect();
    for (let part = one.parentElement; part && part !== document.body; part = part.parentElement) {
      const around = getComputedStyle(part);
      if (around.overflowX === 'visible') continue;
      const edge = part.getBoundingClientRect();
      const margin = parseFloat(around.overflowClipMargin) || 0;
      if (box.left - reach < edge.left - margin || box.right + reach > edge.right + margin) {
        clipped.push(one.outerHTML.slice(0, 120));
      }
    }
  }
  return clipped;
}
"""


# The states in the cells of a table that are wider than their words and the space around these.
STRETCHED = """
[...document.querySelectorAll('td > .badge')].filter(one => {
  const words = document.createRange();
  words.selectNodeContents(one);
  return one.getBoundingClientRect().width > words.getBoundingClientRect().width + 24;
}).map(one => one.textContent)
"""
# How far a table is wider than its place.
BEYOND = "Math.max(...[...document.querySelectorAll('.within-width')].map(one => one.scrollWidth - one.clientWidth))"


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization of many members."""
    acme = builder.organization()
    builder.service(acme, "shop", redirect_uris=["https://shop.example/callback"])
    builder.member(acme, builder.user(), "owner")
    for number in range(MEMBERS):
        builder.member(acme, builder.user(f"member-{number:02}@example.com"), "member")
    with running_site(database_url, key_pairs) as site:
        yield site


def test_fourteen_members_stand_on_one_screen_and_what_is_done_with_the_chosen_stays_in_view(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(viewport=SCREEN)
    page = watched.page
    page.goto(f"{site.url}{ACME}/people")
    sign_in(page)
    page.get_by_role("heading", name="People").wait_for()

    seen = page.evaluate(ROWS_SEEN)
    page.get_by_label("Choose member-00@example.com").check()
    bar = page.get_by_role("group", name="Several at once")
    bottom = bar.evaluate("one => one.getBoundingClientRect().bottom")

    assert seen >= 14
    assert bottom <= SCREEN["height"]
    assert page.evaluate(CLIPPED_RINGS) == []
    assert watched.problems == []


def test_a_row_leads_to_its_page_and_back_after_a_form_and_a_group_of_sections_stays_folded(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch(viewport=SCREEN).page
    page.goto(f"{site.url}{ACME}/people?search=member")
    sign_in(page)
    # Anywhere in the row, also beside its link.
    place = page.get_by_role("row", name="member-03@example.com").get_by_text("Off", exact=True).bounding_box()
    assert place is not None
    page.mouse.click(place["x"], place["y"] + 2)
    page.get_by_role("heading", name="member-03@example.com").wait_for()
    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="People").click()
    page.wait_for_url("**/people?search=member")
    page.get_by_role("link", name="member-03@example.com").click()
    page.get_by_role("button", name="Change the role").click()
    page.wait_for_url("**done=*")
    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="People").click()
    page.wait_for_url("**/people?search=member")

    navigation = page.get_by_role("navigation", name="Organization")
    navigation.get_by_text("Integrations").click()
    page.reload()
    page.get_by_role("heading", name="People").wait_for()
    folded = navigation.get_by_role("link", name="Webhooks").is_visible()
    page.goto(f"{site.url}{ACME}/webhooks")
    page.get_by_role("heading", name="Webhooks").wait_for()

    assert not folded
    # The present one is always in view.
    assert navigation.get_by_role("link", name="Webhooks").is_visible()


def test_what_creates_a_row_opens_below_the_title_and_a_row_has_one_line(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch(viewport=SCREEN).page
    page.goto(f"{site.url}{ACME}/people/invited")
    sign_in(page)
    page.get_by_label("Email addresses").fill(INVITED)
    page.get_by_role("button", name="Invite", exact=True).click()
    page.get_by_text(INVITED).first.wait_for()
    page.goto(f"{site.url}{ACME}/people/invited")
    button = page.locator("summary", has_text="Invite people")
    closed = button.bounding_box()
    button.click()
    opened, title = button.bounding_box(), page.locator("h1").bounding_box()
    stretched, states = page.evaluate(STRETCHED), page.locator("td > .badge").count()
    page.goto(f"{site.url}{ACME}/audit")

    assert closed is not None
    assert opened is not None
    assert title is not None
    # In place, and beside the title.
    assert (opened["x"], opened["y"]) == pytest.approx((closed["x"], closed["y"]), abs=8)
    assert title["x"] + 100 < opened["x"]
    assert (states, stretched) == (1, [])
    assert page.evaluate(BEYOND) <= 0


def test_a_button_whose_answer_is_in_another_tab_waits_for_nothing(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(viewport=SCREEN).page
    page.goto(f"{site.url}{ACME}/services/shop")
    sign_in(page)
    button = page.get_by_role("button", name="Try it")
    with page.expect_popup():
        button.click()

    assert button.get_attribute("aria-busy") is None


def test_without_scripts_all_stands_unfolded(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(viewport=SCREEN, java_script_enabled=False).page
    page.goto(f"{site.url}{ACME}/people")
    sign_in(page)

    page.get_by_role("navigation", name="Organization").get_by_role("link", name="Settings").click()
    page.locator("summary", has_text="Your account: ada@example.com").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{site.url}{ACME}/people")
    page.get_by_label("Email address").wait_for()


def test_a_menu_closes_by_the_keyboard_and_a_button_says_that_it_is_busy(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(viewport=SCREEN)
    page = watched.page
    page.goto(f"{site.url}{ACME}/roles")
    sign_in(page)
    menu = page.locator("summary[aria-label='Actions for owner']")
    menu.press("Enter")
    opened = page.locator(".row-menu[open]").get_by_role("link", name="Copy").is_visible()
    found = violations(page)
    page.keyboard.press("Escape")
    page.get_by_text("A new role").first.press("Enter")
    page.get_by_label("Name", exact=True).fill("Clerk")
    # Nothing is sent, as if the server were slow.
    page.evaluate("document.addEventListener('submit', event => event.preventDefault())")
    button = page.get_by_role("button", name="Create the role")
    button.click()

    assert opened
    assert not page.locator(".row-menu[open]").get_by_role("link", name="Copy").is_visible()
    assert found == []
    assert button.get_attribute("aria-busy") == "true"


def test_on_a_phone_the_german_sign_in_fits_and_the_picture_of_a_second_factor_stands_last(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch(viewport=PHONE, locale="de").page
    page.goto(f"{site.url}/app/sign-in?return_to=/app/account/second-factor")
    heights = [page.evaluate("document.documentElement.scrollHeight")]
    page.get_by_label("E-Mail-Adresse").fill("ada@example.com")
    page.get_by_role("button", name="Weiter").press("Enter")
    page.get_by_label("Passwort").fill("correct horse battery staple")
    heights.append(page.evaluate("document.documentElement.scrollHeight"))

    assert heights == [PHONE["height"]] * 2
    # One main action; everything else looks like a link.
    assert page.locator("main .button:not(.quiet):visible").count() == 1

    english = watch(viewport=PHONE).page
    english.goto(f"{site.url}/app/account/second-factor")
    sign_in(english)
    english.get_by_role("button", name="Set up an app").click()
    tops = [english.locator(part).bounding_box() for part in ("#open", "#confirm", "#scan")]
    english.set_viewport_size(SCREEN)
    wide = [english.locator(part).bounding_box() for part in ("#scan", "#open", "#confirm")]

    for boxes in (tops, wide):
        assert None not in boxes
        places = [box["y"] for box in boxes if box is not None]
        assert places == sorted(places)
