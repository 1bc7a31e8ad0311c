"""Signing in and out at an application in a real browser, with and without scripts, on several sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route

from adapters.postgres.database import PostgresDatabase
from core.saml.configuration import SamlConfiguration
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.service_provider import ServiceProvider, inflated, key_pair
from tests.world.builder import EMAIL, Builder
from tests.world.saml import insert_saml

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
SP = "https://shop.example"
LANDING = f"{SP}/acs"
with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture(scope="module")
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a member of an organization, whose service has SAML."""
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            builder = Builder(connection, CLOCK)
            organization_id = builder.organization()
            builder.member(organization_id, builder.user(EMAIL))
            service_id = builder.service(organization_id, name="Acme Shop").id
        configuration = SamlConfiguration(
            organization_id=organization_id,
            service_id=service_id,
            enabled=True,
            entity_id=SP,
            acs_url=f"{SP}/acs",
            slo_url=f"{SP}/slo",
        )

        async def prepare(database: PostgresDatabase) -> None:
            await database.transact(insert_saml, configuration, key_pair("idp"))

        site = Site(
            capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost"
        )
        yield site
        site.close()


@dataclass
class Application:
    """The application at another site: it posts or redirects to Gatehouse, and takes what is posted back."""

    sp: ServiceProvider
    binding: str = "redirect"
    posted: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        """Answer a request of the browser."""
        path, query = urlsplit(route.request.url).path, urlsplit(route.request.url).query
        match path:
            case "/start" if self.binding == "redirect":
                self._redirect(route, f"{self.sp.idp}/sso?{self.sp.query(self.sp.authn_request(), relay_state='r')}")
            case "/start":
                self._form(route)
            case "/acs":
                self.posted.append(route.request.post_data or "")
                self._show(route, "<h1>Welcome</h1>")
            case "/slo":
                request = inflated(parse_qs(query)["SAMLRequest"][0])
                response = self.sp.logout_response(request.get("ID"))
                relay_state = parse_qs(query)["RelayState"][0]
                answer = self.sp.query(response, name="SAMLResponse", relay_state=relay_state)
                self._redirect(route, f"{self.sp.idp}/slo?{answer}")
            case _:
                raise AssertionError(path)

    def _form(self, route: Route) -> None:
        fields = parse_qs(self.sp.form(self.sp.authn_request(), relay_state="r").decode())
        inputs = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, [value] in fields.items())
        self._show(route, f'<form method="post" action="{self.sp.idp}/sso">{inputs}<button>Go</button></form>')

    @staticmethod
    def _redirect(route: Route, location: str) -> None:
        route.fulfill(status=302, headers={"Location": location})

    @staticmethod
    def _show(route: Route, html: str) -> None:
        route.fulfill(status=200, content_type="text/html", body=html)


def open_application(page: Page, site: Site, *, binding: str = "redirect") -> Application:
    """Let the browser find the application, and open its start."""
    idp = f"{site.url}/saml/acme/shop"
    application = Application(
        ServiceProvider(now=CLOCK, idp=idp, entity_id=SP, acs_url=f"{SP}/acs", slo_url=f"{SP}/slo"), binding
    )
    page.context.route("https://**/*", application.answer)
    page.goto(f"{SP}/start")
    if binding == "post":
        page.get_by_role("button", name="Go").click()
    return application


@with_and_without_scripts
@pytest.mark.parametrize("binding", ["redirect", "post"])
def test_a_user_is_signed_in_at_the_application_and_out_again(
    site: Site, watch: Callable[..., Watched], binding: str, scripts: bool
) -> None:
    watched = watch(java_script_enabled=scripts)
    page = watched.page

    application = open_application(page, site, binding=binding)
    assert "Acme Shop" in page.content()
    sign_in(page)
    if not scripts:
        page.get_by_role("button", name="Continue").click()
    page.wait_for_url(LANDING)
    page.goto(f"{site.url}/app/sign-out")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="You are signed out").wait_for()

    assert len(application.posted) == 1
    assert "RelayState=r" in application.posted[0]
    assert [problem for problem in watched.problems if "Content Security Policy" in problem] == []


def test_a_browser_that_is_signed_in_sees_no_page_of_ours(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch().page
    open_application(page, site)
    sign_in(page)
    page.wait_for_url(LANDING)

    again = open_application(page, site, binding="post")
    page.wait_for_url(LANDING)

    assert len(again.posted) == 1
