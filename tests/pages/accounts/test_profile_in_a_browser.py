"""Managing one's own account in a real browser, without scripts except for passkeys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pyotp.totp import TOTP

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site_with_account, sign_in
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL, PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.long]

NEW = "another good password"


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account."""
    with running_site_with_account(database_url, key_pairs) as site:
        yield site


def open_account(page: Page, site: Site, password: str = PASSWORD) -> None:
    """Open the account, and sign in where it asks for that."""
    page.goto(f"{site.url}/app/account")
    sign_in(page, password=password)
    page.wait_for_url(f"{site.url}/app/account")


def open_section(page: Page, site: Site, name: str) -> None:
    """Open a section of the account from the overview."""
    page.goto(f"{site.url}/app/account")
    page.get_by_role("main").get_by_role("link", name=name).click()


def set_up_app(page: Page) -> str:
    """Begin to set up an app, and return the secret that the page shows."""
    page.get_by_role("button", name="Set up an app").click()
    page.get_by_text("Or type a key into it").click()
    secret = page.get_by_role("group", name="Key for your app").inner_text().replace(" ", "")
    WATCH.add(secret)
    return secret


def turn_on(page: Page, code: str) -> None:
    """Enter the code of the app."""
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name="Turn on").click()


def backup_codes(page: Page) -> list[str]:
    """Return the codes that the page shows."""
    codes = page.get_by_role("list", name=f"Backup codes of {EMAIL}").get_by_role("listitem").all_inner_texts()
    assert len(codes) == 10
    WATCH.add(*codes)
    return codes


def test_a_second_factor_is_set_up_without_scripts_and_its_codes_are_kept(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = watched.page
    open_account(page, site)

    open_section(page, site, "Second factor")
    secret = set_up_app(page)
    turn_on(page, "000000")
    page.get_by_text("This code is wrong.").wait_for()
    turn_on(page, TOTP(secret).at(SettableClock().now))
    codes = backup_codes(page)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download the codes").click()
    page.emulate_media(media="print")
    printed = page.locator("body").inner_text()
    page.emulate_media(media="screen")
    page.get_by_role("link", name="I have kept them").click()

    assert Path(downloading.value.path()).read_text().split()[-10:] == codes
    assert downloading.value.suggested_filename == "backup-codes.txt"
    assert all(code in printed for code in codes)
    assert "Sign out" not in printed
    assert page.get_by_role("button", name="Turn off").is_visible()
    # The wrong code.
    assert [problem for problem in watched.problems if "status of 400" not in problem] == []


def test_going_back_and_sending_a_form_twice_does_a_thing_once(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    open_account(page, site)
    open_section(page, site, "Second factor")
    secret = set_up_app(page)
    turn_on(page, TOTP(secret).at(SettableClock().now))
    backup_codes(page)

    page.reload()

    assert "The backup codes were shown already." in page.get_by_role("main").inner_text()


def test_a_form_of_another_tab_still_works_after_a_factor_was_added(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    open_account(page, site)
    other = page.context.new_page()
    other.goto(f"{site.url}/app/account/password")
    page.goto(f"{site.url}/app/account/second-factor")
    secret = set_up_app(page)
    turn_on(page, TOTP(secret).at(SettableClock().now))
    backup_codes(page)

    other.get_by_label("Current password").fill(PASSWORD)
    other.get_by_label("New password", exact=True).fill(NEW)
    other.get_by_label("Repeat the new password").fill(NEW)
    other.get_by_role("button", name="Save the password").click()

    other.get_by_text("Your new password is saved").wait_for()


def test_a_passkey_is_added_by_the_only_script_and_signs_in(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    open_account(page, site)

    open_section(page, site, "Passkeys")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("Blue key")
    page.get_by_role("button", name="Make a passkey").click()
    page.get_by_text("The passkey is added.").wait_for()
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_role("button", name="Make a passkey").click()
    page.get_by_text("No passkey was made.").wait_for()
    page.goto(f"{site.url}/app/sign-out")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    # The browser offers the passkey by itself, and its authenticator presses every button.
    page.goto(f"{site.url}/app/account/passkeys")

    page.get_by_text("Blue key").first.wait_for()
    assert watched.problems == []


def test_without_scripts_the_page_says_what_a_passkey_needs(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(java_script_enabled=False).page
    open_account(page, site)

    page.goto(f"{site.url}/app/account/passkeys/new")

    assert page.get_by_text("Your browser has to run scripts for this").is_visible()
    assert page.get_by_role("button", name="Make a passkey").count() == 0


def test_the_data_are_downloaded_and_the_account_is_closed_and_reopened(
    site: Site, watch: Callable[..., Watched]
) -> None:
    page = watch(java_script_enabled=False).page
    open_account(page, site)

    open_section(page, site, "Your data")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download your data").click()
    page.get_by_role("link", name="Close your account").click()
    page.get_by_role("button", name="Close the account").click()
    closed = page.get_by_role("heading").inner_text()
    page.go_back()
    page.goto(f"{site.url}/app/account")
    after = page.get_by_role("heading").inner_text()
    open_account(page, site)

    assert json.loads(Path(downloading.value.path()).read_text())["email"] == EMAIL
    assert closed == "Your account is closed"
    assert after == "Sign in"


@pytest.mark.parametrize("runs_scripts", [True, False])
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_sign_in_by_a_stranger_is_found_and_its_session_is_ended(
    site: Site, watch: Callable[..., Watched], *, language: str, runs_scripts: bool
) -> None:
    texts = {
        "en": ("Sign-ins", "It was not me", "End all other sessions", "All other sessions have ended."),
        "de": (
            "Anmeldungen",
            "Das war ich nicht",
            "Alle anderen Sitzungen beenden",
            "Alle anderen Sitzungen sind beendet.",
        ),
    }
    section, not_me, end, ended = texts[language]
    stranger = watch().page
    open_account(stranger, site)
    watched = watch(java_script_enabled=runs_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    open_account(page, site)
    page.set_extra_http_headers({"Accept-Language": language})

    open_section(page, site, section)
    page.get_by_role("link", name=not_me).first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name=end).focus()
    page.keyboard.press("Enter")
    page.get_by_text(ended).wait_for()
    stranger.reload()

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert "/app/sign-in" in stranger.url
    assert watched.problems == []
