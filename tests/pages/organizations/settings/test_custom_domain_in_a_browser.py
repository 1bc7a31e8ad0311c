"""The pages under a custom domain in a real browser: their branding, and signing in by password and by passkey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from core.sessions.signing_keys import KeyPair
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.custom_domain import BRANDING, serving_domain
from tests.postgres import Databases
from tests.world.builder import EMAIL

pytestmark = [pytest.mark.browser, pytest.mark.long]

# Browsers resolve it to this machine, and allow passkeys there without TLS.
DOMAIN = "id.acme.localhost"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    with serving_domain(databases, key_pairs, DOMAIN) as site:
        yield site


def address(site: Site, path: str) -> str:
    """Return the address of a page under the domain."""
    return f"http://{DOMAIN}:{urlsplit(site.url).port}{path}"


def sign_in_by_password(page: Page, site: Site) -> None:
    page.goto(address(site, "/app"))
    sign_in(page)
    page.wait_for_url(address(site, "/app"))


def test_the_pages_have_the_logo_and_the_colours_of_the_organization(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(color_scheme="light")
    page = watched.page

    page.goto(address(site, "/app/sign-in"))

    logo = page.locator("img.brand-logo")
    assert logo.evaluate("image => [image.complete, image.naturalWidth]") == [True, 40]
    button = page.get_by_role("button", name="Continue")
    assert button.evaluate("one => getComputedStyle(one).backgroundColor") == "rgb(122, 31, 92)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 243, 250)"
    assert page.get_by_role("link", name="Terms of use").get_attribute("href") == BRANDING.terms_url
    assert watched.problems == []
    assert {urlsplit(url).hostname for url in watched.requests} == {DOMAIN}


def test_a_user_signs_in_adds_a_passkey_and_signs_in_with_it(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})

    sign_in_by_password(page, site)
    page.get_by_role("link", name="Add a passkey for this page").click()
    page.get_by_role("button", name="Add a passkey").click()
    page.wait_for_url(address(site, "/app"))
    page.get_by_role("button", name="Sign out").click()
    page.goto(address(site, "/app/sign-in"), wait_until="commit")
    # The browser offers the passkey by itself, and the authenticator needs no touch.
    page.wait_for_url(address(site, "/app"))

    assert EMAIL in page.content()
    assert page.locator("h1").inner_text() == "You are signed in"
    # The base URL knows nothing of this session.
    page.goto(f"{site.url}/app")
    assert "/app/sign-in" in page.url
