"""The language of pages and the dates on them in a real browser, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.browser import Site, Watched
from tests.pages.crawl.recording import Shown
from tests.pages.crawl.serving import routes_of

pytestmark = [pytest.mark.browser, pytest.mark.long]

IN_UTC = {"de-DE": "3. Februar 2026, 04:05 Uhr (UTC)", "en-GB": "3 February 2026, 04:05 UTC"}
CHANGED_AT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
PAGES = {
    "time": Shown("", "accounts/email_change_undo.html", {"token": "token", "changed_at": CHANGED_AT}, html=""),
}
PHONE: Any = {"width": 320, "height": 640}


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a page that shows a time."""

    async def prepare(database: PostgresDatabase) -> None:
        """Add nothing."""

    site = Site(
        [*capabilities.routes(is_development=True), *routes_of(PAGES).routes], database_url, key_pairs, prepare=prepare
    )
    yield site
    site.close()


@pytest.mark.parametrize(
    ("locale", "timezone_id", "shown"),
    [
        ("de-DE", "America/New_York", "2. Februar 2026 um 23:05"),
        ("en-GB", "Asia/Kathmandu", "3 February 2026 at 09:50"),
        # A page has one way to write a day, whatever the region of its reader.
        ("en-US", "UTC", "3 February 2026 at 04:05"),
    ],
)
def test_times_are_in_the_zone_and_the_language_of_the_reader(
    site: Site, watch: Callable[..., Watched], locale: str, timezone_id: str, shown: str
) -> None:
    page = watch(locale=locale, timezone_id=timezone_id).page

    page.goto(f"{site.url}/shown?name=time")
    time = page.locator("time").first

    assert time.inner_text() == shown
    assert time.get_attribute("title") == IN_UTC.get(locale, IN_UTC["en-GB"])
    assert time.get_attribute("datetime") == "2026-02-03T04:05:06+00:00"


@pytest.mark.parametrize("locale", IN_UTC)
def test_without_scripts_they_are_in_utc_and_say_so(site: Site, watch: Callable[..., Watched], locale: str) -> None:
    page = watch(locale=locale, timezone_id="America/New_York", java_script_enabled=False).page

    page.goto(f"{site.url}/shown?name=time")

    assert page.locator("time").first.inner_text() == IN_UTC[locale]


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without"])
def test_the_language_is_switched_by_the_keyboard_on_the_page_where_one_is(
    site: Site, watch: Callable[..., Watched], has_scripts: bool
) -> None:
    watched = watch(locale="en-US", viewport=PHONE, java_script_enabled=has_scripts)
    page = watched.page
    page.goto(f"{site.url}/app/sign-in?return_to=/app/account")

    page.get_by_role("button", name="Deutsch").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Anmelden").wait_for()

    assert page.url == f"{site.url}/app/sign-in?return_to=/app/account"
    assert page.locator("html").get_attribute("lang") == "de"
    page.goto(f"{site.url}/app/register")
    assert page.get_by_role("heading", name="Konto anlegen").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320 if has_scripts else True
    assert watched.problems == []
