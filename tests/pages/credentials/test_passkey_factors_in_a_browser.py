"""A passkey as a second factor in a real browser, with a virtual authenticator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import CDPSession, Page, expect

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site_with_account, sign_in
from tests.browser import Site, Watched

pytestmark = pytest.mark.browser

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server, and an account in it."""
    with running_site_with_account(database_url, key_pairs) as site:
        yield site


@pytest.fixture
def page(site: Site, watch: Callable[..., Watched]) -> Page:
    """A browser that is signed in."""
    page = watch().page
    page.goto(f"{site.url}/app/account/passkeys/new")
    sign_in(page)
    return page


def plugged_in(page: Page) -> tuple[CDPSession, str]:
    """Give the browser an authenticator."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    return devtools, devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})["authenticatorId"]


def touch(devtools: CDPSession, authenticator_id: str, *, is_touched: bool) -> None:
    """Set whether the user touches the authenticator when it asks."""
    devtools.send(
        "WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": authenticator_id, "enabled": is_touched}
    )


def test_a_passkey_is_offered_first_with_another_way_beside_it(site: Site, page: Page) -> None:
    devtools, authenticator_id = plugged_in(page)
    page.get_by_role("button", name="Make a passkey").click()
    expect(page.get_by_text("The passkey is added.")).to_be_visible()

    page.goto(f"{site.url}/app/account/second-factor")
    page.get_by_role("button", name="Use as second factor").click()
    expect(page.get_by_role("heading", name="Keep these codes")).to_be_visible()
    # Else the sign-in page offers the passkey by itself, and it would sign in alone.
    touch(devtools, authenticator_id, is_touched=False)
    page.context.clear_cookies()
    page.goto(f"{site.url}/app/account")
    sign_in(page)

    expect(page.get_by_role("button", name="Use your passkey")).to_be_visible()
    expect(page.get_by_label("Code", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Another way").click()
    expect(page.get_by_label("Code", exact=True)).to_be_focused()
    touch(devtools, authenticator_id, is_touched=True)
    page.get_by_role("button", name="Use your passkey").click()
    page.wait_for_url(f"{site.url}/app/account")

    page.goto(f"{site.url}/app/account/passkeys")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    # The browser got the message, and has forgotten the passkey.
    page.wait_for_load_state("networkidle")
    assert devtools.send("WebAuthn.getCredentials", {"authenticatorId": authenticator_id})["credentials"] == []
