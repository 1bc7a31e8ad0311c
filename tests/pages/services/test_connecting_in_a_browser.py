"""The page of a service in a browser: its programs in tabs, and the line that waits for the first sign-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import httpx
import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, PASSWORD, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

SHOP = "/app/organizations/acme/services/shop"
QUESTIONS_MAX = 20
WAITING = "Waiting for your first sign-in"


@pytest.fixture
def site(connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a service, whose owner signs in."""
    builder = Builder(connection, lambda: datetime.now(UTC))
    organization_id = builder.organization()
    builder.member(organization_id, builder.user(), "owner")
    builder.service(organization_id, "shop", redirect_uris=["http://localhost:8080/callback"])

    async def prepare(_database: PostgresDatabase) -> None:
        """Everything is inserted already."""

    routes = capabilities.routes(is_development=True)
    site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", clock=lambda: datetime.now(UTC))
    yield site
    site.close()


def test_the_line_turns_green_by_itself_when_somebody_signs_in(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    page.clock.install()
    page.goto(f"{site.url}{SHOP}")
    sign_in(page)
    page.get_by_text(WAITING).wait_for()

    page.clock.fast_forward(5000)
    page.wait_for_load_state("networkidle")
    still_waits = page.get_by_text(WAITING).is_visible()
    answer = httpx.post(
        f"{site.url}/api/auth/login",
        json={"email": EMAIL, "password": PASSWORD, "org_slug": "acme", "service_slug": "shop"},
    )
    assert answer.status_code == 200
    # The answer to a question may still be on its way.
    for _ in range(QUESTIONS_MAX):
        if page.get_by_text(WAITING).is_visible():
            page.clock.fast_forward(5000)
            page.wait_for_load_state("networkidle")

    assert still_waits
    assert page.get_by_text(f"The first sign-in succeeded: {EMAIL}").is_visible()
    assert page.locator(".first-sign-in time").get_attribute("datetime") is not None
    assert watched.problems == []


def test_programs_are_tabs_that_arrow_keys_change_without_scripts_and_copying_copies_the_text(
    site: Site, watch: Callable[..., Watched]
) -> None:
    plain, scripted = watch(java_script_enabled=False, viewport={"width": 320, "height": 640}).page, watch().page
    scripted.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for page in (plain, scripted):
        page.goto(f"{site.url}{SHOP}")
        sign_in(page)
        page.get_by_text(WAITING).wait_for()
    shown: list[list[str]] = []
    plain.get_by_role("radio").first.focus()
    for _ in range(3):
        panels = plain.locator(".program-panel:visible")
        shown.append([panels.nth(index).get_attribute("id") or "" for index in range(panels.count())])
        plain.keyboard.press("ArrowRight")
    scripted.get_by_text("Shell, with curl").click()
    program = scripted.locator("#program-curl")
    program.get_by_role("button", name="Copy").click()
    program.get_by_role("button", name="Copied").wait_for()

    assert shown == [["program-fastapi"], ["program-django"], ["program-flask"]]
    copied = scripted.evaluate("navigator.clipboard.readText()")
    assert copied == program.locator("pre").text_content()
    assert copied.startswith("issuer=")
    assert plain.get_by_role("link", name="Look again").is_visible()
