"""A new admin in a real browser: from the account to the people of the organization, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.organizations.settings.branding import Branding
from core.sessions.signing_keys import KeyPair
from ports.unit_of_work import UnitOfWork
from tests.account_site import running_site, sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, PASSWORD, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]


def add_brand(uow: UnitOfWork) -> None:
    """Give the organization two colours of which neither is readable on the other, or on the ground of the console."""
    organization = uow.organizations.by_slug("acme")
    assert organization is not None
    brand = Branding(primary_color="#ffee00", background_color="#000000", updated_at=uow.now)
    uow.branding.save(organization.id, brand)


async def prepare(database: PostgresDatabase) -> None:
    """Add the brand."""
    await database.transact(add_brand)


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an active organization."""
    builder.member(builder.organization(), builder.user(), "owner")
    with running_site(database_url, key_pairs, prepare=prepare) as site:
        yield site


def open_signed_in_in_german(page: Page, address: str) -> None:
    """Do the same in German."""
    page.goto(address)
    page.get_by_label("E-Mail-Adresse").fill(EMAIL)
    page.get_by_role("button", name="Weiter").press("Enter")
    page.get_by_label("Passwort").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden", exact=True).press("Enter")


def open_signed_in(page: Page, address: str) -> None:
    """Sign in on the way to a page."""
    page.goto(address)
    sign_in(page)


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_people_are_invited_found_and_withdrawn(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    open_signed_in(page, f"{site.url}/app/organizations")
    page.get_by_role("link", name="Open Acme").click()
    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("navigation", name="Organization").get_by_role("link", name="People").click()
    page.get_by_role("link", name="Invitations").click()

    page.get_by_label("Email addresses").fill("one@example.com\nnonsense\ntwo@example.com")
    page.get_by_role("button", name="Invite", exact=True).click()
    results = page.get_by_role("region", name="What became of each address").inner_text()
    kept = page.get_by_label("Email addresses").input_value()
    page.get_by_text("Search and filter").click()
    page.get_by_label("Part of the address").fill("TWO@")
    # By the keyboard.
    page.get_by_label("Part of the address").press("Enter")
    found = page.get_by_role("table", name="Invitations").inner_text()
    page.locator("summary[aria-label='Actions for two@example.com']").press("Enter")
    page.get_by_role("button", name="Withdraw").press("Enter")
    page.get_by_text("The invitation is withdrawn.").wait_for()

    assert [line for line in results.splitlines() if "nvited" in line][-1].startswith("two@example.com")
    assert "Not invited" in results
    assert kept == "nonsense"
    assert "two@example.com" in found
    assert "one@example.com" not in found
    assert "search=TWO%40" not in page.url
    assert watched.problems == []


def test_keys_open_the_palette_and_show_themselves_outside_of_fields_until_they_are_turned_off(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(viewport={"width": 720, "height": 640})
    page = watched.page
    open_signed_in(page, f"{site.url}/app/organizations/acme/people")
    search, dialog = page.get_by_role("combobox"), page.get_by_role("dialog", name="Keyboard shortcuts")
    main, button = page.locator("main"), page.get_by_role("button", name="Keyboard shortcuts")

    # The script shows it.
    button.wait_for()
    page.keyboard.press("/")
    assert search.evaluate("field => field === document.activeElement")
    page.keyboard.type("a/?")
    assert (search.input_value(), dialog.is_visible()) == ("a/?", False)
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert not search.is_visible()
    page.get_by_label("Part of the address").focus()
    page.keyboard.press("Control+k")
    assert search.evaluate("field => field === document.activeElement")
    page.keyboard.press("Escape")
    main.focus()
    page.keyboard.press("Control+?")
    assert not dialog.is_visible()
    page.keyboard.press("?")
    found = violations(page)
    page.keyboard.press("Escape")
    assert (dialog.is_visible(), found) == (False, [])

    main.focus()
    page.keyboard.press("?")
    page.get_by_label("Use / and ? as shortcuts in this browser").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    button.wait_for()
    main.focus()
    for key in ("?", "/"):
        page.keyboard.press(key)
        assert not dialog.is_visible()
        assert not search.is_visible()
    # The way back needs no key.
    button.click()
    assert not page.get_by_label("Use / and ? as shortcuts in this browser").is_checked()
    assert watched.problems == []


def test_the_console_is_readable_under_every_brand(site: Site, watch: Callable[..., Watched]) -> None:
    for scheme in ("light", "dark"):
        watched = watch(color_scheme=scheme)
        open_signed_in(watched.page, f"{site.url}/app/organizations/acme/people")
        watched.page.get_by_role("heading", name="People").wait_for()

        assert (scheme, violations(watched.page), watched.problems) == (scheme, [], [])


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_section_is_found_on_a_phone_and_beside_a_long_page(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    acme = f"{site.url}/app/organizations/acme"
    phone = watch(java_script_enabled=has_scripts, viewport={"width": 390, "height": 700}, locale="de")
    page = phone.page
    open_signed_in_in_german(page, acme)
    if has_scripts:
        page.get_by_role("button", name="Suchen").click()
        page.get_by_role("combobox").fill("Fortschritt")
        page.keyboard.press("Enter")
    else:
        page.get_by_role("link", name="Suchen").click()
        page.get_by_role("main").get_by_label("Suchen nach").fill("Fortschritt")
        page.get_by_role("main").get_by_role("button", name="Suchen").press("Enter")
    page.wait_for_url(f"{acme}/jobs")
    assert not page.get_by_role("navigation", name="Organisation").is_visible()

    wide = watch(java_script_enabled=has_scripts, viewport={"width": 1280, "height": 500})
    page = wide.page
    open_signed_in(page, f"{acme}/settings")
    navigation = page.get_by_role("navigation", name="Organization")
    navigation.wait_for()
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    assert navigation.evaluate("one => one.getBoundingClientRect().top") == 0
    if has_scripts:
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill("SCIM")
    else:
        page.get_by_label("Find people").fill("SCIM")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{acme}/provisioning")
    assert (phone.problems, wide.problems) == ([], [])
