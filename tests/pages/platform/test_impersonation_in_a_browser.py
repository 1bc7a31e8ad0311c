"""A platform owner acts as a user in a real browser, by the keyboard, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

PERSON = "eva@example.com"


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner, and a member of an organization."""
    builder.user(is_platform_owner=True)
    builder.member(builder.organization(), builder.user(PERSON), "owner")
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_owner_acts_as_a_person_and_is_themselves_again(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/platform/users?search=eva")
    sign_in(page)
    page.get_by_role("link", name=PERSON).press("Enter")

    page.get_by_role("link", name="Impersonate").press("Enter")
    page.get_by_label("Reason").fill("Invoices are missing (ticket 4711)")
    page.get_by_role("button", name="Act as this person").press("Enter")

    banner = page.get_by_role("complementary", name="Acting as another person")
    for path in ("/app", "/app/account", "/app/organizations/acme", "/app/organizations/acme/people"):
        page.goto(f"{site.url}{path}")
        assert PERSON in banner.inner_text()
        assert "60 minutes" in banner.inner_text()
    page.goto(f"{site.url}/app/account/password")
    page.get_by_role("heading", name="Only this person can do this").wait_for()
    banner.get_by_role("button", name="Stop").press("Enter")

    page.get_by_text("You are yourself again").wait_for()
    assert banner.count() == 0
    page.goto(f"{site.url}/app/account")
    assert EMAIL in page.locator("header").inner_text()
    assert [problem for problem in watched.problems if "403" not in problem] == []
