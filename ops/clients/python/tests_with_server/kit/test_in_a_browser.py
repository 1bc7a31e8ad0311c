"""The cookie of the fixture in a browser of Playwright, and a sign-in by a provider, which a person clicks."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from gatehouse_client.testing import GatehouseKit

# An installed browser; without it, the one of `playwright install`.
CHROMIUM = os.environ.get("GATEHOUSE_CHROMIUM")


@pytest.fixture
def context() -> Iterator[BrowserContext]:
    """A new window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser.new_context()
        browser.close()


def test_the_cookie_signs_a_person_in(gatehouse: GatehouseKit, context: BrowserContext) -> None:
    ann = gatehouse.person("ann")
    context.add_cookies([gatehouse.cookie(ann)])
    page = context.new_page()

    page.goto(f"{gatehouse.base_url}/app/account")

    expect(page.get_by_text(ann.email).first).to_be_visible()


@pytest.mark.parametrize("protocol", ["oidc", "saml"])
def test_a_person_clicks_through_the_provider(gatehouse: GatehouseKit, context: BrowserContext, protocol: str) -> None:
    entra = gatehouse.entra("bolt", "bolt.example", protocol=protocol)
    entra.add("ann@bolt.example")
    page = context.new_page()

    page.goto(f"{gatehouse.base_url}/app/sign-in")
    page.fill("#email", "ann@bolt.example")
    page.keyboard.press("Enter")
    page.click('a[href^="/auth/upstream"]')
    page.click("text=ann@bolt.example")

    page.wait_for_url(f"{gatehouse.base_url}/app/organizations/bolt")
