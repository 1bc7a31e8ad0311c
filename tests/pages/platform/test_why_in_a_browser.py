"""A platform owner in a real browser finds out why a user is refused, and helps them, with and without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.accounts.users import User
from entrypoints import capabilities
from tests.browser import Site
from tests.world.builder import EMAIL, PASSWORD, PASSWORD_HASH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapters.postgres.database import PostgresDatabase
    from core.sessions.signing_keys import KeyPair
    from ports.unit_of_work import UnitOfWork
    from tests.browser import Watched

pytestmark = [pytest.mark.browser, pytest.mark.long]

CID = "cid@example.com"


def add_people(uow: UnitOfWork) -> None:
    """Insert a platform owner, and a user whose address is not verified."""
    for email, is_owner in ((EMAIL, True), (CID, False)):
        user_id = uow.randomness.new_id()
        uow.users.add(
            User(
                id=user_id,
                email=email,
                email_verified_at=uow.now if is_owner else None,
                is_platform_owner=is_owner,
                created_at=uow.now,
                updated_at=uow.now,
            )
        )
        uow.credentials.set_password_hash(user_id, PASSWORD_HASH)


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with the two accounts."""

    async def prepare(database: PostgresDatabase) -> None:
        await database.transact(add_people)

    site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost")
    yield site
    site.close()


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_verification_that_is_missing_is_found_and_sent(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/platform/why")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()

    page.get_by_label("Email address or id").fill(CID)
    page.get_by_label("Way to sign in").select_option("Password")
    # By the keyboard.
    page.get_by_label("Email address or id").press("Enter")
    refused = page.get_by_role("alert").inner_text()
    page.get_by_text("What these rules depend on").press("Enter")
    settings = page.get_by_role("list", name="What these rules depend on").inner_text()
    page.get_by_role("button", name="Send the verification again").press("Enter")
    page.get_by_text("The mail that verifies the address is on its way.").wait_for()

    assert f"{CID} cannot sign in with a password." in refused
    assert "Send the verification again below" in refused
    assert "Verified address" in settings
    assert page.get_by_label("Email address or id").input_value() == CID
    assert page.get_by_label("Way to sign in").input_value() == "password"
    assert watched.problems == []
