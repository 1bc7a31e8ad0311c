"""Taking back the settings of a setup link in a real browser: a page says what ends before its button is pressed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.secrets import hash_token
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.pages.organizations.setup import SETUP
from tests.axe import violations
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.secret_watch import WATCH
from tests.world.builder import Builder, new_id

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
SECRET = "the-secret-of-a-link-to-all"
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
# What the pages say that ask, in the order of the walk.
ENDS = {
    "en": (
        "No other token is valid, so provisioning stops until a new one is created.",
        "Users can no longer sign in at the application by SAML.",
        "no longer works under it.",
        "The token of the receiver is deleted here.",
    ),
    "de": (
        "Kein anderes Token ist gültig. Die Bereitstellung ruht also, bis ein neues erstellt wird.",
        "Benutzer können sich bei der Anwendung nicht mehr über SAML anmelden.",
        "ist unter ihr nicht mehr möglich.",
        "Das Token des Empfängers wird hier gelöscht.",
    ),
}


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization, whose owner has made a setup link to four parts."""
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            builder = Builder(connection, CLOCK)
            organization_id, owner_id = builder.organization(), builder.user()
            builder.member(organization_id, owner_id, "owner")
            connection.execute(
                """
                INSERT INTO setup_links (id, organization_id, parts, service_id, secret_hash, created_by, created_at,
                                         expires_at)
                VALUES (%s, %s, '{saml,scim,domain,siem}', %s, %s, %s, %s, %s + interval '7 days')
                """,
                (
                    new_id(),
                    organization_id,
                    builder.service(organization_id).id,
                    hash_token(SECRET),
                    owner_id,
                    CLOCK(),
                    CLOCK(),
                ),
            )

        async def prepare(_: PostgresDatabase) -> None:
            """Everything is in the database already."""

        site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, clock=CLOCK)
        yield site
        site.close()


def press(page: Page, action: str) -> None:
    """Press the button of the form with that action."""
    page.locator(f'form[action="{action}"] button[type=submit]').click()
    page.wait_for_load_state()


def take_back(page: Page, ends: str, *, has_scripts: bool) -> None:
    """Follow the link that leads to the page which asks, read what ends, and press its button."""
    for step in page.locator("details:not([open]):has(a[href$='/revoke']) > summary").all():
        step.click()
    page.locator('main a[href$="/delete"], main a[href$="/revoke"]').click()
    page.wait_for_load_state()
    assert ends in page.inner_text("main")
    if has_scripts:
        assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.locator("main button.danger").click()
    page.wait_for_load_state()
    assert page.locator('main a[href$="/delete"], main a[href$="/revoke"]').count() == 0


@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize(("language", "has_scripts"), [("en", True), ("de", True), ("de", False)])
def test_what_was_set_is_taken_back_by_pages_that_say_what_ends(
    site: Site, watch: Callable[..., Watched], *, language: str, has_scripts: bool, options: dict[str, Any]
) -> None:
    page = watch(java_script_enabled=has_scripts, locale=language, **options).page
    scim, saml, domain, siem = (f"{SETUP}/parts/{part}" for part in ("scim", "saml", "domain", "siem"))
    token, application, name, receiver = ENDS[language]
    page.goto(f"{site.url}/app/setup/{SECRET}")
    page.locator("main button").click()

    page.goto(f"{site.url}{scim}?provider=okta")
    press(page, scim)
    WATCH.add(page.input_value("#copy-token"))
    take_back(page, token, has_scripts=has_scripts)

    page.goto(f"{site.url}{saml}?provider=other&step=application")
    page.fill("#entity_id", "https://sp.example/metadata")
    page.fill("#acs_url", "https://sp.example/acs")
    press(page, saml)
    page.goto(f"{site.url}{saml}?step=application")
    assert page.input_value("#entity_id") == "https://sp.example/metadata"
    take_back(page, application, has_scripts=has_scripts)

    page.goto(f"{site.url}{domain}")
    page.fill("#domain", "id.acme.example")
    press(page, domain)
    take_back(page, name, has_scripts=has_scripts)

    page.goto(f"{site.url}{siem}?provider=splunk")
    page.fill("#endpoint", "http://127.0.0.1:9/services/collector/event")
    page.fill("#siem_token", "the-token-of-splunk")
    press(page, siem)
    take_back(page, receiver, has_scripts=has_scripts)

    page.goto(f"{site.url}{SETUP}")
    states = page.locator(".setup-steps .badge").all_inner_texts()
    assert set(states) == {"Nicht begonnen" if language == "de" else "Not begun"}
    assert len(states) == 4
