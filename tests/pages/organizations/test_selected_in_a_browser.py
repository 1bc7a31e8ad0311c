"""Several members at once in a real browser, by the keyboard, with and without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.accounts.users import User
from core.organizations.memberships import ADMIN, MEMBER, OWNER, Membership
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

ROLES = {EMAIL: OWNER, "bob@example.com": ADMIN, "cid@example.com": MEMBER, "dora@example.com": MEMBER}


def add_members(uow: UnitOfWork) -> None:
    """Add an active organization with an owner and three members."""
    organization = Organization(
        id=uow.randomness.new_id(),
        slug="acme",
        name="Acme",
        status=OrganizationStatus.ACTIVE,
        tier_id=FREE_TIER,
        max_services=None,
        max_users=None,
        mfa_required=False,
        device_trust_days=DEVICE_TRUST_DEFAULT.days,
        created_at=uow.now,
        updated_at=uow.now,
        approved_at=uow.now,
        approved_by=None,
        rejected_at=None,
        rejection_reason=None,
        suspended_at=None,
        suspension_reason=None,
    )
    uow.organizations.add(organization)
    for email, role in ROLES.items():
        user = User(
            id=uow.randomness.new_id(),
            email=email,
            email_verified_at=uow.now,
            is_platform_owner=False,
            created_at=uow.now,
            updated_at=uow.now,
        )
        uow.users.add(user)
        uow.credentials.set_password_hash(user.id, PASSWORD_HASH)
        membership = Membership(
            id=uow.randomness.new_id(),
            organization_id=organization.id,
            user_id=user.id,
            role=role,
            created_at=uow.now,
        )
        uow.members.add(membership, is_confirmed=True)


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with the organization."""

    async def prepare(database: PostgresDatabase) -> None:
        await database.transact(add_members)

    site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost")
    yield site
    site.close()


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_roles_are_changed_and_members_removed_by_the_keyboard(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme/people")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).press("Enter")

    for name in ("bob", "cid"):
        page.get_by_label(f"Choose {name}@example.com").press("Space")
    page.get_by_role("button", name="Change the role").press("Enter")
    page.get_by_label("New role").select_option("member")
    page.get_by_role("button", name="Change the roles").press("Enter")
    changed = page.get_by_role("region", name="What became of each").inner_text()
    page.get_by_role("link", name="All members").press("Enter")
    page.get_by_role("link", name="remove", exact=True).press("Enter")
    page.get_by_label("dora@example.com").press("Space")
    numbers = page.get_by_role("region", name="This ends at once").inner_text()
    page.get_by_label("Why").fill("The team is closed.")
    page.get_by_role("button", name="Remove the chosen members").press("Enter")
    removed = page.get_by_role("region", name="What became of each").inner_text()
    page.get_by_role("link", name="All members").press("Enter")
    left = page.get_by_role("table", name="Members").inner_text()

    assert changed.count("Changed") == 2
    assert "3 memberships." in numbers
    assert removed.count("Removed") == 2
    assert "dora@example.com" not in removed
    assert "dora@example.com" in left
    assert "bob@example.com" not in left
    assert watched.problems == []
