"""A platform owner in a real browser finds out why a user is refused, and helps them, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

CID = "cid@example.com"


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner, and a user whose address is not verified."""
    builder.user(is_platform_owner=True)
    builder.user(CID, is_verified=False)
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_verification_that_is_missing_is_found_and_sent(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/platform/why")
    sign_in(page)

    page.get_by_label("Email address, a part of it, or the id").fill(CID)
    page.get_by_label("Way to sign in").select_option("Password")
    # By the keyboard.
    page.get_by_label("Email address, a part of it, or the id").press("Enter")
    refused = page.get_by_role("alert").inner_text()
    page.get_by_text("What these rules depend on").press("Enter")
    settings = page.get_by_role("list", name="What these rules depend on").inner_text()
    page.get_by_role("button", name="Send the verification again").press("Enter")
    page.get_by_text("The mail that verifies the address is on its way.").wait_for()

    assert f"{CID} cannot sign in with a password." in refused
    assert "Send the verification again below" in refused
    assert "Verified address" in settings
    assert page.get_by_role("radio", name=CID).is_checked()
    assert page.get_by_label("Way to sign in").input_value() == "password"
    assert watched.problems == []
