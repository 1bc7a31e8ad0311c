"""The page that posts a request to a SAML identity provider, in a real browser, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from playwright.sync_api import Route

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.identity_provider import SSO_URL, IdentityProvider
from tests.postgres import Databases
from tests.service_provider import POST
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
CONNECTION_ID = str(UUID(int=1))


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization whose identity provider takes signed posts alone."""
    idp = IdentityProvider(now=CLOCK)
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            connection.execute(
                """
                INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, metadata_xml,
                                                  attribute_mapping, trust_mfa, enabled, created_at, updated_at)
                VALUES (%s, %s, 'saml', 'Acme', %s, '{}', %s, '{}', false, true, now(), now())
                """,
                (
                    CONNECTION_ID,
                    Builder(connection, CLOCK).organization(),
                    idp.entity_id,
                    idp.metadata(binding=POST, rest='WantAuthnRequestsSigned="true"'),
                ),
            )

        async def prepare(_: PostgresDatabase) -> None:
            """Everything is in the database already."""

        site = Site(
            capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost"
        )
        yield site
        site.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_browser_takes_the_request_to_the_provider(
    site: Site, watch: Callable[..., Watched], *, scripts: bool
) -> None:
    posted: list[str] = []

    def take(route: Route) -> None:
        posted.append(route.request.post_data or "")
        route.fulfill(status=200, content_type="text/html", body="<h1>Sign in at Acme</h1>")

    watched = watch(java_script_enabled=scripts)
    page = watched.page
    page.context.route("https://**/*", take)
    page.goto(f"{site.url}/auth/upstream?connection_id={CONNECTION_ID}")
    if not scripts:
        assert "Acme" in page.content()
        page.get_by_role("button", name="Continue").click()
    page.wait_for_url(SSO_URL)

    [form] = posted
    assert parse_qs(form).keys() == {"SAMLRequest", "RelayState"}
    assert [problem for problem in watched.problems if "Content Security Policy" in problem] == []
