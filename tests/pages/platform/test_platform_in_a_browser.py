"""A platform owner in a real browser: approving, rejecting several, and finding an organization again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner and three organizations that wait."""
    builder.user(is_platform_owner=True)
    for slug in ("grove", "harbour", "orchard"):
        builder.organization(slug, status="pending")
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_organizations_are_approved_rejected_and_found(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app")
    sign_in(page)
    page.wait_for_url(f"{site.url}/app/platform")
    page.get_by_role("link", name="Look at it Grove").press("Enter")
    page.get_by_role("button", name="Approve").press("Enter")
    page.get_by_text("The organization is approved.").wait_for()

    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="Organizations").click()
    page.get_by_text("Search and filter").click()
    page.get_by_label("Status").select_option("Waits for approval")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("checkbox", name="Choose Harbour").press("Space")
    page.get_by_role("checkbox", name="Choose Orchard").press("Space")
    page.get_by_role("button", name="Reject the chosen").click()
    page.get_by_role("alert").get_by_text("A reason has 1 to 1000 characters.").wait_for()
    assert page.get_by_role("checkbox", name="Choose Orchard").is_checked()
    page.get_by_label("Reason").fill("Not ours.")
    page.get_by_role("button", name="Reject the chosen").click()
    results = page.get_by_role("region", name="What became of each organization").inner_text()
    if has_scripts:
        page.get_by_role("button", name="Find").press("Enter")
        page.get_by_role("dialog").get_by_role("combobox").fill("harb")
        page.keyboard.press("Enter")
    else:
        page.get_by_role("link", name="Search").press("Enter")
        page.get_by_role("main").get_by_label("Search for").fill("harb")
        page.get_by_role("main").get_by_label("Search for").press("Enter")
    page.get_by_text("The reason: Not ours.").wait_for()

    assert results.count("Done") == 2
    assert page.get_by_role("heading", level=1).inner_text() == "Harbour"
    # The form without a reason.
    assert watched.problems == ["Failed to load resource: the server responded with a status of 400 ()"]
