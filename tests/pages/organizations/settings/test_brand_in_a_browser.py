"""Signing in at an application under the brand of its organization, at the base URL, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route

from adapters.postgres.database import PostgresDatabase
from core.organizations.settings.branding import Branding
from core.organizations.settings.pictures import Picture, PictureKind, PictureType
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from ports.unit_of_work import UnitOfWork
from tests import axe
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.pictures import drawn_png
from tests.postgres import Databases
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.relying_party import REDIRECT_URI

pytestmark = [pytest.mark.browser, pytest.mark.long]

LOGO = Picture(type=PictureType.PNG, content=drawn_png(120, 40))
# As ugly as the rule of contrast allows.
BRANDING = Branding(
    logo=LOGO.name,
    primary_color="#c00000",
    background_color="#ffff00",
    support_email="help@acme.example",
    terms_url="https://acme.example/terms",
    updated_at=SettableClock()(),
)
PRIMARY_COLOR = "rgb(192, 0, 0)"
PHONE = {"width": 320, "height": 700}
WIDE = {"width": 1280, "height": 900}
# The words of the walk: the fields and the buttons, and who the platform is.
WORDS = {
    "en": {
        "email": "Email address",
        "on": "Continue",
        "password": "Password",
        "in": "Sign in",
        "by": "provided by Gatehouse",
    },
    "de": {
        "email": "E-Mail-Adresse",
        "on": "Weiter",
        "password": "Passwort",
        "in": "Anmelden",
        "by": "bereitgestellt von Gatehouse",
    },
}


@pytest.fixture(scope="module")
def served(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[tuple[Site, UUID]]:
    """A running server with a user, and the client id of a service of an organization with a brand."""
    with databases.migrated() as database_url:
        with databases.connection(database_url) as connection:
            builder = Builder(connection, SettableClock())
            organization_id = builder.organization(name="Acme Tools")
            builder.user(EMAIL)
            service = builder.service(organization_id, name="Acme Shop", redirect_uris=[REDIRECT_URI])

        async def prepare(database: PostgresDatabase) -> None:
            await database.transact(_brand, organization_id)

        site = Site(
            capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost"
        )
        yield site, service.client_id
        site.close()


def _brand(uow: UnitOfWork, organization_id: UUID) -> None:
    uow.branding.set_picture(organization_id, PictureKind.LOGO, LOGO)
    uow.branding.save(organization_id, BRANDING)


def begin(page: Page, site: Site, client_id: UUID, **more: str) -> list[str]:
    """Open the request of the application; return the list of its answers."""
    answers: list[str] = []

    def answer(route: Route) -> None:
        answers.append(route.request.url)
        route.fulfill(status=200, content_type="text/html", body="<h1>Welcome</h1>")

    page.context.route("https://**/*", answer)
    query = {"client_id": str(client_id), "redirect_uri": REDIRECT_URI, "response_type": "code", "state": "s", **more}
    page.goto(f"{site.url}/auth/authorize?{urlencode(query)}")
    return answers


def assert_is_branded(page: Page, by: str) -> None:
    """Check the head of the card, the colour of its first button, and that the platform is named."""
    page.wait_for_load_state("load")
    head = page.locator(".card .brand-head")
    assert head.inner_text().strip() == "Acme Tools"
    assert head.locator("img").evaluate("image => image.complete && image.naturalWidth") == 120
    button = page.locator(".card .button:not(.quiet)").first
    assert button.evaluate("one => getComputedStyle(one).backgroundColor") == PRIMARY_COLOR
    assert page.locator(".by-platform").inner_text() == by
    assert page.title().endswith(" · Gatehouse")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("language", WORDS)
def test_a_user_signs_in_at_an_application_under_the_brand_of_its_organization(
    served: tuple[Site, UUID],
    watch: Callable[..., Watched],
    language: str,
    viewport: dict[str, Any],
    *,
    scripts: bool,
) -> None:
    watched = watch(java_script_enabled=scripts, viewport=viewport, locale=language, color_scheme="light")
    page, words = watched.page, WORDS[language]

    answers = begin(page, *served)
    assert_is_branded(page, words["by"])
    page.get_by_label(words["email"]).fill(EMAIL)
    page.get_by_role("button", name=words["on"], exact=True).click()
    assert_is_branded(page, words["by"])
    page.get_by_label(words["password"]).fill(PASSWORD)
    page.get_by_role("button", name=words["in"], exact=True).click()
    page.get_by_role("heading", name="Welcome").wait_for()

    assert len(answers) == 1
    assert "code=" in answers[0]
    begin(page, *served, prompt="consent")
    assert_is_branded(page, words["by"])
    page.goto(f"{served[0].url}/app/account")
    # The account belongs to its person alone.
    assert page.locator(".brand-head, .by-platform").count() == 0
    assert "Acme Tools" not in page.content()
    assert watched.problems == []


def problems_of(page: Page) -> list[str]:
    """Return what axe finds once the page has its style sheets."""
    page.wait_for_load_state("load")
    return axe.violations(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_pages_under_an_ugly_brand(
    served: tuple[Site, UUID], watch: Callable[..., Watched], scheme: str
) -> None:
    page = watch(viewport=PHONE, color_scheme=scheme).page
    found: dict[str, list[str]] = {}

    begin(page, *served)
    found["address"] = problems_of(page)
    page.get_by_text("Create an account").click()
    found["register"] = problems_of(page)
    page.go_back()
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue", exact=True).click()
    found["methods"] = problems_of(page)
    page.get_by_text("Forgot your password?").click()
    found["forgotten password"] = problems_of(page)
    page.go_back()
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in", exact=True).click()
    found["wrong password"] = problems_of(page)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name="Welcome").wait_for()
    begin(page, *served, prompt="consent")
    found["consent"] = problems_of(page)

    assert {name: violations for name, violations in found.items() if violations} == {}
