"""Setting up an OpenID connection with a setup link in a real browser, and being told each mistake before it is saved.

The provider is one that others have written.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.secrets import hash_token
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.axe import violations
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, running_oidc_provider
from tests.postgres import Databases
from tests.world.builder import Builder, new_id

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
SECRET = "the-secret-of-a-setup-link"
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}


@dataclass(frozen=True)
class Told:
    """What a page says in a language."""

    closed: str
    slash: str
    secret: str
    right: str
    copy: str
    copied: str


TOLD = {
    "en": Told(
        closed="The server does not accept connections at this address.",
        slash="The issuer differs from what the provider calls itself by the slash at the end.",
        secret="The provider does not accept the client secret.",
        right="The last check found no problem.",
        copy="Copy",
        copied="Copied",
    ),
    "de": Told(
        closed="Der Server nimmt unter dieser Adresse keine Verbindungen an.",
        slash="Der Issuer unterscheidet sich durch den Schrägstrich am Ende",
        secret="Der Anbieter nimmt das Client-Secret nicht an.",
        right="Die letzte Prüfung fand kein Problem.",
        copy="Kopieren",
        copied="Kopiert",
    ),
}


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization, whose owner has made a setup link."""
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            builder = Builder(connection, CLOCK)
            organization_id, owner_id = builder.organization(), builder.user()
            builder.member(organization_id, owner_id, "owner")
            connection.execute(
                """
                INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)
                VALUES (%s, %s, '{upstream}', %s, %s, %s, %s + interval '7 days')
                """,
                (new_id(), organization_id, hash_token(SECRET), owner_id, CLOCK(), CLOCK()),
            )

        async def prepare(_: PostgresDatabase) -> None:
            """Everything is in the database already."""

        site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, clock=CLOCK)
        yield site
        site.close()


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The issuer of a running provider."""
    with running_oidc_provider(tmp_path_factory.mktemp("provider")) as running:
        yield running


def closed_port() -> int:
    """Return a port at which nothing listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def send(page: Page, *, issuer: str | None, secret: str) -> None:
    """Fill in what is not filled in yet, and press the button."""
    if issuer is not None:
        page.fill("#issuer", issuer)
    page.fill("#client_id", CLIENT_ID)
    page.fill("#client_secret", secret)
    page.locator('form[action$="/upstream"] button[type=submit]').click()
    page.wait_for_load_state()


def assert_usable(page: Page) -> None:
    """Check that a page is accessible, and no wider than its screen."""
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_each_mistake_is_told_before_anything_is_saved(
    site: Site, watch: Callable[..., Watched], issuer: str, *, scripts: bool, language: str, options: dict[str, Any]
) -> None:
    told = TOLD[language]
    page = watch(java_script_enabled=scripts, locale=language, **options).page
    page.goto(f"{site.url}/app/setup/{SECRET}")
    page.locator("main button").click()
    page.goto(f"{site.url}/app/setup/parts/upstream")
    page.locator('a[href$="provider=oidc"]').click()
    assert page.locator("html").get_attribute("lang") == language

    send(page, issuer=f"http://127.0.0.1:{closed_port()}", secret=CLIENT_SECRET)
    assert told.closed in page.inner_text("main")
    assert page.input_value("#client_id") == CLIENT_ID
    assert page.input_value("#client_secret") == ""
    if scripts:
        assert_usable(page)

    send(page, issuer=f"{issuer}/", secret=CLIENT_SECRET)
    assert told.slash in page.inner_text("main")
    assert page.input_value("#issuer") == issuer

    send(page, issuer=None, secret="mistyped")
    assert told.secret in page.inner_text("main")
    assert page.url.endswith("/app/setup/parts/upstream")
    if scripts:
        assert_usable(page)

    send(page, issuer=None, secret=CLIENT_SECRET)
    assert page.locator("details[open] h2").count() == 1
    page.goto(page.url.partition("?")[0] + "?step=provider")
    assert told.right in page.inner_text("main")
    buttons = page.locator(".copyable button")
    assert buttons.count() == (page.locator(".copyable [readonly]").count() if scripts else 0)
    if scripts:
        assert buttons.first.inner_text() == told.copy
        buttons.first.click()
        page.get_by_role("button", name=told.copied).wait_for()
        assert_usable(page)
