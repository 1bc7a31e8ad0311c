"""A new admin connects an OpenID provider, tests it by a real sign-in in a new tab, and switches it on.

The provider is one that others have written. The browser runs no scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, running_oidc_provider
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an active organization."""
    builder.member(builder.organization(), builder.user(), "owner")

    async def prepare(_: PostgresDatabase) -> None:
        """Everything is in the database already."""

    # The provider looks at the real time.
    clock = SettableClock(datetime.now(UTC))
    site = Site(
        capabilities.routes(is_development=True),
        database_url,
        key_pairs,
        prepare=prepare,
        name="localhost",
        clock=clock,
    )
    yield site
    site.close()


def test_a_new_admin_connects_a_provider_tests_it_and_switches_it_on(
    site: Site, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    page = watch(java_script_enabled=False, viewport={"width": 320, "height": 640}).page
    with running_oidc_provider(tmp_path, f"{site.url}/auth/upstream/callback") as issuer:
        page.goto(f"{site.url}/app/organizations/acme")
        sign_in(page)
        page.get_by_role("link", name="Connect your identity provider").press("Enter")
        page.get_by_role("link", name="Another OpenID provider").press("Enter")
        page.get_by_label("Issuer").fill(issuer)
        page.get_by_label("Client id").fill(CLIENT_ID)
        page.get_by_label("Client secret").fill(CLIENT_SECRET)
        page.get_by_role("button", name="Check and save").press("Enter")
        page.get_by_text("The connection is saved, and switched off.").wait_for()

        with page.context.expect_page() as opened:
            page.get_by_role("button", name="Test it").press("Enter")
        tab = opened.value
        tab.locator('input[name="login"]').fill("ada")
        tab.locator('input[name="password"]').fill("any")
        tab.locator("button[type=submit]").press("Enter")
        tab.locator('input[name="prompt"][value="consent"]').wait_for(state="attached")
        tab.locator("button[type=submit]").press("Enter")
        tab.get_by_text("The test sign-in succeeded.").wait_for()
        brought = tab.locator("main").inner_text()
        tab.get_by_role("button", name="Switch it on").press("Enter")
        tab.get_by_text("The connection is switched on.").wait_for()

        assert "ada@acme.example" in brought
        assert "This person would not be let in" in brought
        assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
