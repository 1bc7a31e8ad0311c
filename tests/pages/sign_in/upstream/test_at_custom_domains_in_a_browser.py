"""At the custom domain of a vendor, in a real browser: the connection of a customer signs in, and leads back there.

The identity provider posts its answer from another site, so that the browser sends the cookies that it would send.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Route

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider, asked
from tests.postgres import Databases
from tests.world.builder import Builder, new_id
from tests.world.relying_party import PKCE, REDIRECT_URI

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
IDP = IdentityProvider(now=CLOCK)
# Browsers resolve it to this machine.
DOMAIN = "id.vendor.localhost"
PEOPLE = {True: "ada@acme.example", False: "ben@acme.example"}


class Story:
    """A vendor with a domain, and Acme as a customer of its service, whose people sign in by Acme's connection."""

    client_id: str

    def insert(self, builder: Builder) -> None:
        """Insert it."""
        connection, now = builder.connection, CLOCK()
        vendor, acme = builder.organization("vendor"), builder.organization("acme")
        service = builder.service(vendor, "shop", redirect_uris=[REDIRECT_URI])
        builder.serve_customers(service, "editor")
        builder.customer(service, acme)
        self.client_id = str(service.client_id)
        connection_id = new_id()
        connection.execute(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, metadata_xml,
                                              attribute_mapping, joins_as, trust_mfa, enabled, created_at, updated_at)
            VALUES (%s, %s, 'saml', 'Acme', %s, '{}', %s, '{}', 'member', false, true, %s, %s)
            """,
            (connection_id, acme, IDP.entity_id, IDP.metadata(), now, now),
        )
        connection.execute(
            """
            INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                       proved_at, next_check_at)
            VALUES (%s, %s, 'acme.example', %s, true, '', 'verified', %s, %s, %s)
            """,
            (new_id(), acme, connection_id, now, now, now),
        )
        connection.execute(
            """
            INSERT INTO custom_domains (id, organization_id, domain, value, status, verified_at, proved_at,
                                        next_check_at)
            VALUES (%s, %s, %s, '', 'verified', %s, %s, %s)
            """,
            (new_id(), vendor, DOMAIN, now, now, now),
        )


@pytest.fixture(scope="module")
def story() -> Story:
    """What is in the database."""
    return Story()


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair], story: Story) -> Iterator[Site]:
    """A running server."""

    async def prepare(_: PostgresDatabase) -> None:
        """Everything is in the database already."""

    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            story.insert(Builder(connection, CLOCK))
        routes = capabilities.routes(is_development=True)
        site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", clock=CLOCK)
        yield site
        site.close()


def _answer(route: Route, email: str) -> None:
    """Answer as the identity provider of a person, with the page that posts; or as the service."""
    if not route.request.url.startswith("https://idp."):
        route.fulfill(status=200, content_type="text/html", body="<h1>The shop</h1>")
        return
    request = asked(route.request.url)
    response = replace(IDP, name_id=email, attributes={"email": email}).answer(request)
    fields = {"SAMLResponse": base64.b64encode(response.encode()).decode(), "RelayState": request.relay_state}
    inputs = "".join(f'<input type="hidden" name="{name}" value="{escape(text)}">' for name, text in fields.items())
    form = f'<form method="post" action="{escape(request.acs_url)}">{inputs}<button>Send</button></form>'
    route.fulfill(status=200, content_type="text/html", body=form)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_person_of_a_customer_signs_in_at_the_vendor_s_domain(
    site: Site, story: Story, watch: Callable[..., Watched], *, scripts: bool
) -> None:
    watched = watch(java_script_enabled=scripts, viewport={"width": 390, "height": 800})
    page = watched.page
    page.context.route("https://**/*", lambda route: _answer(route, PEOPLE[scripts]))
    there = f"http://{DOMAIN}:{urlsplit(site.url).port}"
    query = "&".join(f"{name}={value}" for name, value in PKCE.items())
    page.goto(
        f"{there}/auth/authorize?client_id={story.client_id}&response_type=code&scope=openid"
        f"&redirect_uri={REDIRECT_URI}&state=s-1&{query}"
    )

    page.get_by_label("Email address").fill(PEOPLE[scripts])
    page.get_by_role("button", name="Continue", exact=True).click()
    # The page leads on by itself after a moment.
    page.get_by_role("link", name="Sign in another way").wait_for()
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Continue").wait_for()
    assert page.url.startswith(there)
    assert "Acme" in page.locator("main").inner_text()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{REDIRECT_URI}?*")

    assert "code=" in page.url
    assert [problem for problem in watched.problems if "Content Security Policy" in problem] == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_registration_is_told_of_the_required_sign_in(
    site: Site, watch: Callable[..., Watched], *, scripts: bool
) -> None:
    watched = watch(java_script_enabled=scripts, viewport={"width": 390, "height": 800})
    page = watched.page
    page.goto(f"{site.url}/app/register")
    page.get_by_label("Email address").fill("eve@acme.example")

    if scripts:
        page.keyboard.press("Tab")
    else:
        page.get_by_label("Password").fill("correct horse battery staple")
        page.get_by_role("button", name="Create the account").click()
    page.get_by_text("Addresses in acme.example sign in with Acme.").wait_for()

    assert "connection_id=" in (page.get_by_role("link", name="Continue with Acme").get_attribute("href") or "")
    if scripts:
        page.get_by_label("Email address").fill("eve@elsewhere.example")
        page.keyboard.press("Tab")
        page.get_by_text("Addresses in acme.example").wait_for(state="detached")
    assert watched.problems == []
