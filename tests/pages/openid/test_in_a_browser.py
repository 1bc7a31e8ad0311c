"""Answers to a service in a real browser, with and without scripts: by a form or an address, a code or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests import axe
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.relying_party import REDIRECT_URI

pytestmark = [pytest.mark.browser, pytest.mark.long]

# Who is asked for a name, with and without scripts.
NAMELESS: Final = {True: "one@example.com", False: "two@example.com"}

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture(scope="module")
def served(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[tuple[Site, UUID]]:
    """A running server with members of an organization, and the client id of its service."""
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            builder = Builder(connection, SettableClock())
            organization_id = builder.organization()
            for email in (EMAIL, *NAMELESS.values()):
                builder.member(organization_id, builder.user(email, was_asked_for_name=email == EMAIL))
            service = builder.service(organization_id, name="Acme Shop", redirect_uris=[REDIRECT_URI])

        async def prepare(_: PostgresDatabase) -> None:
            """Prepare nothing more."""

        routes = capabilities.routes(is_development=True)
        site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost")
        yield site, service.client_id
        site.close()


class Application:
    """The service at another site, which takes an answer."""

    def __init__(self, page: Page, site: Site, client_id: UUID, mode: str, **parameters: str) -> None:
        self.answers: list[dict[str, list[str]]] = []
        page.context.route("https://**/*", self._answer)
        query = {
            "client_id": str(client_id),
            "redirect_uri": REDIRECT_URI,
            "response_type": "code",
            "response_mode": mode,
            "state": "s-1",
            **parameters,
        }
        page.goto(f"{site.url}/auth/authorize?{urlencode(query)}")

    def _answer(self, route: Route) -> None:
        sent = route.request.post_data or urlsplit(route.request.url).query
        self.answers.append(parse_qs(sent))
        route.fulfill(status=200, content_type="text/html", body="<h1>Welcome</h1>")


@with_and_without_scripts
@pytest.mark.parametrize("mode", ["form_post", "query"])
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["signs in", "cancels"])
def test_the_answer_reaches_the_service(
    served: tuple[Site, UUID], watch: Callable[..., Watched], mode: str, *, scripts: bool, is_cancelled: bool
) -> None:
    watched = watch(java_script_enabled=scripts)
    page = watched.page
    application = Application(page, *served, mode)

    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue", exact=True).click()
    if is_cancelled:
        page.get_by_role("button", name="Cancel").click()
    else:
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
    if mode == "form_post" and not scripts:
        page.get_by_role("button", name="Continue", exact=True).click()
    page.get_by_role("heading", name="Welcome").wait_for()

    [answer] = application.answers
    assert answer["state"] == ["s-1"]
    assert ("code" in answer, answer.get("error")) == ((False, ["access_denied"]) if is_cancelled else (True, None))
    assert [problem for problem in watched.problems if "Content Security Policy" in problem] == []


@with_and_without_scripts
def test_who_has_no_name_is_asked_for_one_and_may_leave_it_empty(
    served: tuple[Site, UUID], watch: Callable[..., Watched], *, scripts: bool
) -> None:
    watched = watch(java_script_enabled=scripts, locale="de", viewport={"width": 320, "height": 800})
    page = watched.page
    application = Application(page, *served, "query", scope="openid profile")

    page.get_by_label("E-Mail-Adresse").fill(NAMELESS[scripts])
    page.get_by_role("button", name="Weiter", exact=True).click()
    page.get_by_label("Passwort").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden", exact=True).click()
    page.get_by_role("heading", name="Wie heißen Sie?").wait_for()
    violations = axe.violations(page) if scripts else []
    field = page.get_by_label("Name")
    if scripts:
        assert field.evaluate("one => one === document.activeElement")
        field.fill("Ada")
    page.get_by_role("button", name="Weiter", exact=True).click()
    page.get_by_role("heading", name="Welcome").wait_for()

    [answer] = application.answers
    assert "code" in answer
    assert violations == []
