"""Several members at once in a real browser, by the keyboard, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.organizations.organizations import ADMIN, MEMBER, OWNER
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROLES = {EMAIL: OWNER, "bob@example.com": ADMIN, "cid@example.com": MEMBER, "dora@example.com": MEMBER}


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization that has an owner and three members."""
    organization_id = builder.organization()
    for email, role in ROLES.items():
        builder.member(organization_id, builder.user(email), role)
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_roles_are_changed_and_members_removed_by_the_keyboard(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme/people")
    sign_in(page)

    for name in ("bob", "cid"):
        page.get_by_label(f"Choose {name}@example.com").press("Space")
    page.get_by_role("button", name="Change the role").press("Enter")
    page.get_by_label("New role").select_option("member")
    page.get_by_role("button", name="Change the roles").press("Enter")
    changed = page.get_by_role("region", name="What became of each").inner_text()
    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="People").press("Enter")
    page.get_by_role("link", name="remove", exact=True).press("Enter")
    page.get_by_label("dora@example.com").press("Space")
    numbers = page.get_by_role("region", name="This ends at once").inner_text()
    page.get_by_label("Why").fill("The team is closed.")
    page.get_by_role("button", name="Remove the chosen members").press("Enter")
    removed = page.get_by_role("region", name="What became of each").inner_text()
    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="People").press("Enter")
    left = page.get_by_role("table", name="Members").inner_text()

    assert changed.count("Changed") == 2
    assert "3 memberships." in numbers
    assert removed.count("Removed") == 2
    assert "dora@example.com" not in removed
    assert "dora@example.com" in left
    assert "bob@example.com" not in left
    assert watched.problems == []
