"""IT staff go from a mailed setup link to a connection that people have to use, in a real browser.

The holder of the link has no account. A member requires the connection at the end, which a link does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.secrets import hash_token
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.setting_kinds import Bind
from tests.account_site import sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.name_server import LOOPBACK, NameServer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider, running_openid_provider
from tests.world.builder import Builder, new_id

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
SECRET = "the-secret-of-a-mailed-link"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": False}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}


@dataclass
class Walk:
    """The site, the provider of the company, and its name servers."""

    site: Site
    provider: OpenIdProvider
    names: NameServer


@pytest.fixture
def walk(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Walk]:
    """A running server with an organization, whose owner has sent a setup link."""
    organization_id, owner_id = builder.organization(), builder.user()
    builder.member(organization_id, owner_id, "owner")
    builder.connection.execute(
        """
        INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)
        VALUES (%s, %s, '{upstream,scim}', %s, %s, %s, %s + interval '7 days')
        """,
        (new_id(), organization_id, hash_token(SECRET), owner_id, CLOCK(), CLOCK()),
    )

    async def prepare(_: PostgresDatabase) -> None:
        """Everything is in the database already."""

    with running_openid_provider() as provider, NameServer().open() as names:
        site = Site(
            capabilities.routes(is_development=True),
            database_url,
            key_pairs,
            prepare=prepare,
            name="localhost",
            clock=CLOCK,
            dns_server=Bind(LOOPBACK, names.port),
        )
        yield Walk(site, provider, names)
        site.close()


def current(page: Page) -> str:
    """Return the title of the step to go on with."""
    return page.locator('[aria-current="step"] .row-title').inner_text()


def press(page: Page, name: str) -> None:
    """Press a button, and wait for the page that follows."""
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_load_state()


def assert_usable(page: Page, *, has_scripts: bool) -> None:
    """Check that a page is no wider than its screen, and accessible as far as a script can tell."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    if has_scripts:
        assert violations(page) == []


def connect(page: Page, walk: Walk, *, has_scripts: bool) -> None:
    """Go from the link to a connection, and be refused to switch it on before a test."""
    page.goto(f"{walk.site.url}/app/setup/{SECRET}")
    press(page, "Begin")
    assert_usable(page, has_scripts=has_scripts)
    assert "Connect your provider" in current(page)
    page.locator('[aria-current="step"] a.button').click()
    page.get_by_role("link", name="Another OpenID provider").click()
    assert page.input_value("#copy-redirect_uri") == f"{walk.site.url}/auth/upstream/callback"
    page.get_by_label("Issuer").fill(walk.provider.url)
    page.get_by_label("Client id").fill(CLIENT_ID)
    page.get_by_label("Client secret").fill(CLIENT_SECRET)
    press(page, "Check and save")
    assert "Prove your mail domain" in current(page)
    assert_usable(page, has_scripts=has_scripts)
    press(page, "Switch it on")
    assert "No test sign-in has succeeded" in page.inner_text("main")


def prove(page: Page, walk: Walk) -> None:
    """Add the mail domain, publish its record, and have it checked."""
    page.get_by_label("Mail domain").fill("acme.example")
    press(page, "Add the domain")
    walk.names.publish(page.input_value("#copy-name-1"), page.input_value("#copy-value-1"))
    press(page, "Check now acme.example")
    assert "The domain is verified." in page.inner_text("main")
    assert "Test it by a real sign-in" in current(page)


def try_out(page: Page, *, has_scripts: bool) -> None:
    """Sign in at the provider, and come back to what it has said."""
    press(page, "Test it")
    page.get_by_role("link", name="Allow").click()
    page.get_by_text("The test sign-in succeeded.").wait_for()
    assert page.url.endswith("#test")
    brought = page.inner_text("main")
    assert "All that a sign-in takes has arrived" in brought
    assert "ada@acme.example" in brought
    assert "employee-1" in brought
    assert "Go live" in current(page)
    assert_usable(page, has_scripts=has_scripts)


@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone without scripts", "wide"])
def test_it_staff_go_from_the_mailed_link_to_a_sign_in_that_is_required(
    walk: Walk, watch: Callable[..., Watched], options: dict[str, Any]
) -> None:
    has_scripts = options.get("java_script_enabled", True)
    page = watch(**options).page

    connect(page, walk, has_scripts=has_scripts)
    prove(page, walk)
    try_out(page, has_scripts=has_scripts)
    press(page, "Switch it on")
    assert "The connection is on." in page.inner_text("main")
    page.goto(f"{walk.site.url}/app/setup")
    assert "Provisioning by SCIM" in current(page)
    assert page.locator(".setup-steps .badge.good").count() == 4
    assert_usable(page, has_scripts=has_scripts)

    owner = watch(**options).page
    owner.goto(f"{walk.site.url}/app/organizations/acme/sign-in")
    sign_in(owner)
    owner.locator('td a[href*="/sign-in/connections/"], th a[href*="/sign-in/connections/"]').first.click()
    owner.wait_for_load_state()
    assert owner.locator('[aria-current="step"]').count() == 0
    assert_usable(owner, has_scripts=has_scripts)
    owner.get_by_role("link", name="Require it", exact=False).click()
    owner.wait_for_load_state()
    owner.locator('input[name="enforced"]').check()
    press(owner, "Save")
    assert "Enforced" in owner.inner_text("main")

    ada = watch(**options).page
    ada.goto(f"{walk.site.url}/app/sign-in")
    ada.get_by_label("Email address").fill("ada@acme.example")
    press(ada, "Continue")
    ada.get_by_role("link", name="Allow").click()
    ada.wait_for_load_state()
    assert "ada@acme.example" in ada.inner_text("main")
