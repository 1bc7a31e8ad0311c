"""A platform owner in a real browser: approving, rejecting several, and finding an organization again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.accounts.users import User
from core.organizations.organizations import DEVICE_TRUST_DEFAULT, Organization, OrganizationStatus
from entrypoints import capabilities
from tests.browser import Site
from tests.world.builder import EMAIL, FREE_TIER, PASSWORD, PASSWORD_HASH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapters.postgres.database import PostgresDatabase
    from core.sessions.signing_keys import KeyPair
    from ports.unit_of_work import UnitOfWork
    from tests.browser import Watched

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner and three organizations that wait."""

    def fill(uow: UnitOfWork) -> None:
        user_id = uow.randomness.new_id()
        uow.users.add(
            User(
                id=user_id,
                email=EMAIL,
                email_verified_at=uow.now,
                is_platform_owner=True,
                created_at=uow.now,
                updated_at=uow.now,
            )
        )
        uow.credentials.set_password_hash(user_id, PASSWORD_HASH)
        for name in ("Grove", "Harbour", "Orchard"):
            uow.organizations.add(
                Organization(
                    id=uow.randomness.new_id(),
                    slug=name.lower(),
                    name=name,
                    status=OrganizationStatus.PENDING,
                    tier_id=FREE_TIER,
                    max_services=None,
                    max_users=None,
                    mfa_required=False,
                    device_trust_days=DEVICE_TRUST_DEFAULT.days,
                    created_at=uow.now,
                    updated_at=uow.now,
                    approved_at=None,
                    approved_by=None,
                    rejected_at=None,
                    rejection_reason=None,
                    suspended_at=None,
                    suspension_reason=None,
                )
            )

    async def prepare(database: PostgresDatabase) -> None:
        await database.transact(fill)

    site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost")
    yield site
    site.close()


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_organizations_are_approved_rejected_and_found(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Platform").click()
    page.get_by_role("link", name="Approve or reject Grove").press("Enter")
    page.get_by_role("button", name="Approve").press("Enter")
    page.get_by_text("The organization is approved.").wait_for()

    page.get_by_role("link", name="All organizations").click()
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
    page.get_by_role("searchbox", name="Find anything").fill("harb")
    page.get_by_role("searchbox", name="Find anything").press("Enter")
    page.get_by_text("The reason: Not ours.").wait_for()

    assert results.count("Done") == 2
    assert page.get_by_role("heading", level=1).inner_text() == "Harbour"
    # The form without a reason.
    assert watched.problems == ["Failed to load resource: the server responded with a status of 400 ()"]
