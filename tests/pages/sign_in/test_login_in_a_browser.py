"""Signing in in a real browser, with and without scripts: what people do, and what other sites try."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site_with_account
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.world.builder import EMAIL, PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.long]

PHONE = {"width": 320, "height": 640}
CREATE = """async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({publicKey})).toJSON();
}"""
SIGNED_IN = "Your account"
# Where the controls are that a page has without its scripts.
PLACES = """() => Object.fromEntries(
    [...document.querySelectorAll("main :is(button, a, input):not(.show, [type=hidden], [data-passkey] *)")]
        .filter((control) => control.checkVisibility())
        .map((control) => [control.name || control.textContent.trim(), Math.round(control.getBoundingClientRect().top)])
)"""
with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account."""
    with databases.migrated() as database_url, running_site_with_account(database_url, key_pairs) as site:
        yield site


def heading(page: Page) -> str:
    """Return the heading of a page."""
    return page.locator("h1").inner_text()


def enter_address(page: Page, site: Site, path: str = "/app") -> None:
    """Open a page, and enter the address where it asks for that."""
    page.goto(site.url + path)
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").click()


def sign_in(page: Page, site: Site, path: str = "/app") -> None:
    """Sign in by password."""
    enter_address(page, site, path)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page, site: Site) -> None:
    """Sign out."""
    page.goto(f"{site.url}/app/sign-out")
    page.get_by_role("button", name="Sign out").click()


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 720}], ids=["phone", "wide"])
@pytest.mark.parametrize("begins", ["/app/sign-in", "/app/register", "a password"])
def test_nothing_moves_under_a_pointer_when_the_scripts_of_a_page_come(
    site: Site, watch: Callable[..., Watched], begins: str, viewport: dict[str, int]
) -> None:
    page, held = watch(viewport=viewport).page, list[Route]()
    if begins == "a password":
        page.goto(f"{site.url}/app/sign-in")
        page.get_by_label("Email address").fill(EMAIL)

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/*.js", hold)
    if begins == "a password":
        page.get_by_role("button", name="Continue").click(no_wait_after=True)
        page.get_by_label("Password").wait_for()
    else:
        page.goto(site.url + begins, wait_until="commit")
    page.locator("button[type=submit], button:not([type])").first.wait_for()
    page.evaluate("document.fonts.ready.then(() => true)")
    before = page.evaluate(PLACES)

    for route in held:
        route.continue_()
    page.wait_for_load_state()
    page.get_by_role("button", name=re.compile("Show password|passkey")).first.wait_for()

    assert len(before) > 1
    assert page.evaluate(PLACES) == before


@with_and_without_scripts
def test_a_user_signs_in_and_out_by_keyboard_alone(site: Site, watch: Callable[..., Watched], scripts: bool) -> None:
    watched = watch(java_script_enabled=scripts)
    page = watched.page
    page.goto(f"{site.url}/app")
    page.get_by_label("Email address").focus()
    page.keyboard.type(EMAIL)
    page.keyboard.press("Enter")
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}/app/account")
    assert heading(page) == SIGNED_IN

    sign_out(page, site)

    assert heading(page) == "You are signed out"
    assert watched.problems == []
    assert [url for url in watched.requests if not url.startswith(site.url + "/")] == []


@with_and_without_scripts
def test_the_back_button_shows_no_page_of_a_session_that_has_ended(
    site: Site, watch: Callable[..., Watched], scripts: bool
) -> None:
    page = watch(java_script_enabled=scripts).page
    sign_in(page, site)
    sign_out(page, site)
    signed_out = heading(page)

    page.go_back()
    asked_to_sign_out = page.content()
    page.go_back()
    signed_in = heading(page)

    assert (signed_out, signed_in) == ("You are signed out", "Sign in")
    assert EMAIL not in asked_to_sign_out + page.content()


@with_and_without_scripts
def test_going_back_to_the_sign_in_leads_on_again(site: Site, watch: Callable[..., Watched], scripts: bool) -> None:
    page = watch(java_script_enabled=scripts).page
    sign_in(page, site)

    page.goto(f"{site.url}/app/sign-in")

    assert heading(page) == SIGNED_IN


def test_a_form_that_is_submitted_twice_signs_in(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    enter_address(page, site)
    page.get_by_label("Password").fill(PASSWORD)

    page.get_by_role("button", name="Sign in", exact=True).dblclick()

    page.wait_for_url(f"{site.url}/app/account")
    assert heading(page) == SIGNED_IN


@with_and_without_scripts
def test_the_form_of_a_second_tab_says_what_to_do(site: Site, watch: Callable[..., Watched], scripts: bool) -> None:
    first = watch(java_script_enabled=scripts).page
    second = first.context.new_page()
    enter_address(second, site)
    sign_in(first, site)

    second.get_by_label("Password").fill(PASSWORD)
    second.get_by_role("button", name="Sign in", exact=True).click()

    assert heading(second) == "This form is no longer valid"
    assert "You have signed in since it was opened" in second.content()
    second.get_by_role("link", name="Continue").click()
    assert heading(second) == SIGNED_IN


@with_and_without_scripts
def test_a_form_that_comes_too_late_is_sent_after_the_password_once(
    databases: Databases, key_pairs: tuple[KeyPair, KeyPair], watch: Callable[..., Watched], scripts: bool
) -> None:
    clock = SettableClock()
    with (
        databases.migrated() as database_url,
        running_site_with_account(database_url, key_pairs, clock=clock) as site,
    ):
        watched = watch(java_script_enabled=scripts)
        page = watched.page
        sign_in(page, site, "/app/account/email")
        page.get_by_label("New email address").fill("new@example.com")
        clock.advance(timedelta(minutes=11))
        page.get_by_role("button", name="Send the link").click()
        assert heading(page) == "Sign in again"
        assert "/app/account/email" in page.locator("main code").inner_text()

        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Continue", exact=True).click()
        if not scripts:
            page.get_by_role("button", name="Continue", exact=True).click()
        page.wait_for_url(f"{site.url}/app/account/email?done=address-asked")

        assert "new@example.com" in page.content()
        assert watched.problems == []
        # A form that a script has sent is no page to go back to.
        if not scripts:
            page.go_back()
            page.wait_for_url(f"{site.url}/app/account/email")


def test_an_expired_form_and_a_cookie_of_yesterday_say_what_to_do(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    enter_address(page, site)
    page.context.clear_cookies()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    assert heading(page) == "This form is no longer valid"

    page.context.add_cookies([{"name": "gatehouse_session", "value": "yesterday", "url": site.url}])
    page.goto(f"{site.url}/app")

    assert heading(page) == "Sign in"
    sign_in(page, site)
    page.wait_for_url(f"{site.url}/app/account")
    assert heading(page) == SIGNED_IN


def fulfil(body: str, route: Route) -> None:
    """Answer a request of the browser with a page of another site."""
    route.fulfill(body=body, content_type="text/html")


def test_a_form_on_another_site_signs_nobody_in_or_out(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    sign_in(page, site)
    for path in ("/app/sign-out", "/app/sign-in/password"):
        evil = f"http://evil.example{path}"
        form = f'<form method="post" action="{site.url}{path}"><input name="email" value="x"><button>x</button></form>'
        page.route(evil, partial(fulfil, form))
        page.goto(evil)
        page.get_by_role("button").click()
        page.wait_for_url(site.url + path)
        assert heading(page) == "This form is no longer valid"

    page.goto(f"{site.url}/app")
    assert heading(page) == SIGNED_IN


def plug_in_authenticator(page: Page) -> None:
    """Give the browser a virtual authenticator without passkeys."""
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


def register_passkey(page: Page, site: Site) -> None:
    """Register a passkey of the browser."""
    plug_in_authenticator(page)
    token = post(page, site, "/api/auth/login", {"email": EMAIL, "password": PASSWORD})["access_token"]
    started = post(page, site, "/api/auth/passkeys/register/start", {}, token)
    page.goto(f"{site.url}/docs")
    credential = page.evaluate(CREATE, started["options"])
    body = {"challenge_id": started["challenge_id"], "credential": credential}
    post(page, site, "/api/auth/passkeys/register/finish", body, token)


def post(page: Page, site: Site, path: str, body: Any, token: str = "") -> Any:
    """Call the JSON interface."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = page.request.post(site.url + path, data=body, headers=headers)
    assert answer.ok, answer.text()
    return answer.json()


def test_a_passkey_signs_in_by_conditional_ui_and_by_the_button(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    register_passkey(page, site)

    # The virtual authenticator chooses its passkey at once, as a user does in the list below the field.
    page.goto(f"{site.url}/app")
    page.wait_for_url(f"{site.url}/app/account")
    assert heading(page) == SIGNED_IN

    page.goto(f"{site.url}/app/sign-in-again")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{site.url}/app/account")
    assert watched.problems == []


def test_without_a_passkey_the_button_says_what_to_do(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    plug_in_authenticator(page)
    enter_address(page, site)

    page.get_by_role("button", name="Use a passkey").click()

    page.get_by_text("Sign in in another way.").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    assert heading(page) == SIGNED_IN


def test_without_scripts_no_page_offers_a_passkey(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(java_script_enabled=False).page
    enter_address(page, site)

    assert page.get_by_role("button", name="Use a passkey").count() == 0


@pytest.mark.parametrize("path", ["/app/sign-in", "/app/register", "/app/forgot-password", "/app/second-factor"])
def test_no_page_of_the_sign_in_scrolls_horizontally_on_a_small_phone(
    site: Site, watch: Callable[..., Watched], path: str
) -> None:
    watched = watch(viewport=PHONE)
    watched.page.goto(site.url + path)

    assert watched.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert watched.problems == []
