"""Signing in with an added provider in a real browser, by keyboard alone, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import added_providers, capabilities
from tests.browser import Site, Watched
from tests.openid_provider import OpenIdProvider, running_openid_provider
from tests.postgres import Databases
from tests.world.added_providers import providers_file

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    """The provider that was added as `acme`."""
    with running_openid_provider() as running:
        running.claims = {"email_verified": True}
        yield running


@pytest.fixture(scope="module")
def site(
    databases: Databases,
    key_pairs: tuple[KeyPair, KeyPair],
    provider: OpenIdProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """A running server with that provider."""
    folder: Path = tmp_path_factory.mktemp("providers")
    added = added_providers.read(str(providers_file(folder, {"acme": provider.url})))

    async def prepare(_: PostgresDatabase) -> None:
        """An installation without users."""

    with databases.migrated() as database_url:
        routes = capabilities.routes(is_development=True, added=added.providers)
        site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", providers_file=added)
        yield site
        site.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_person_signs_in_by_keyboard_alone(site: Site, watch: Callable[..., Watched], *, scripts: bool) -> None:
    watched = watch(java_script_enabled=scripts)
    page = watched.page
    page.goto(f"{site.url}/app/sign-in")
    button = page.get_by_role("link", name="Continue with Acme ID", exact=True)
    for _ in range(20):
        page.keyboard.press("Tab")
        if button.evaluate("link => link === document.activeElement"):
            break

    page.keyboard.press("Enter")
    page.get_by_role("link", name="Allow").press("Enter")
    page.wait_for_url(f"{site.url}/app/account")

    assert page.locator("h1").inner_text() == "Your account"
    assert watched.problems == []
