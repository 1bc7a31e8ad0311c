"""A directory that a vendor connects for a customer admits people, and has no power over their accounts."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest

from tests.world import internal
from tests.world.directory import TOKEN, Directory, insert_scim_token
from tests.world.trade import Trade, insert_trade
from tests.world.world import World

ADA = "ada@example.com"


@dataclass(frozen=True)
class Admitting(Directory):
    """The directory of the customer `beta` of the service `shop`, which the vendor has connected."""

    trade: Trade | None = None
    customer_id: UUID | None = None
    internal_id: UUID | None = None


@pytest.fixture
async def directory(world: World) -> Admitting:
    trade = insert_trade(world)
    customer_id = UUID(await trade.begin())
    internal_id = await internal.internal_of(trade.world, customer_id)
    insert_scim_token(trade.world, internal_id, TOKEN, maker_role="owner", groups="directory")
    return Admitting(trade.vendor, trade=trade, customer_id=customer_id, internal_id=internal_id)


async def log_in(directory: Admitting, email: str = ADA, customer: str = "beta") -> int:
    answer = await directory.world.log_in(email, org_slug="acme", service_slug="shop", customer=customer)
    return answer.status


async def test_whom_it_provisions_may_come_in_for_that_customer_alone(directory: Admitting) -> None:
    directory.world.user(ADA)
    created = await directory.create(ADA)
    before = directory.world.rows(
        "SELECT made_for, confirmed_at FROM memberships WHERE user_id = %s", UUID(created["id"])
    )

    assert before == [(directory.customer_id, None)]
    assert await log_in(directory) == 200
    assert await log_in(directory, customer="gamma") == 403
    token = await directory.world.sign_in(ADA)
    organizations = await directory.world.client.get("/api/organizations", token=token.access_token)
    assert organizations.json == []
    selected = await directory.world.client.post(
        f"/api/organizations/internal:{directory.customer_id}/select", token=token.access_token
    )
    assert selected.status == 404


async def test_an_account_and_a_member_of_the_customer_are_provisioned_like_everyone(directory: Admitting) -> None:
    directory.world.user(ADA)
    for email in (ADA, "worker@example.com", "new@example.com"):
        await directory.create(email)

    listed = (await directory.request("GET", "/Users")).json
    assert listed["totalResults"] == 3


async def test_it_changes_no_address_and_ends_no_account(directory: Admitting) -> None:
    created = await directory.create("new@example.com")

    moved = await directory.patch(created["id"], {"op": "replace", "path": "userName", "value": "other@example.com"})
    removed = await directory.request("DELETE", f"/Users/{created['id']}")

    assert (moved.status, removed.status) == (403, 204)
    assert directory.world.rows(
        "SELECT email, created_by_organization_id FROM users WHERE email = 'new@example.com'"
    ) == [("new@example.com", None)]


async def test_deactivating_ends_the_sessions_in_that_context_alone(directory: Admitting) -> None:
    directory.world.user(ADA)
    created = await directory.create(ADA)
    assert await log_in(directory) == 200
    elsewhere = await directory.world.sign_in(ADA)

    patched = await directory.patch(created["id"], {"op": "replace", "path": "active", "value": False})

    assert patched.status == 200
    assert (
        directory.world.value("SELECT count(*) FROM sessions WHERE customer_id IS NOT NULL AND revoked_at IS NULL") == 0
    )
    assert (await directory.world.client.get("/api/user", token=elsewhere.access_token)).status == 200
    assert await log_in(directory) == 403
    await directory.patch(created["id"], {"op": "replace", "path": "active", "value": True})
    assert await log_in(directory) == 200


async def test_removing_ends_the_admission_and_leaves_a_membership(directory: Admitting) -> None:
    for email in (ADA, "worker@example.com"):
        if email == ADA:
            directory.world.user(ADA)
        created = await directory.create(email)
        assert await log_in(directory, email) == 200
        removed = await directory.request("DELETE", f"/Users/{created['id']}")
        assert removed.status == 204

    alive = directory.world.rows(
        """
        SELECT u.email FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE  customer_id IS NOT NULL AND revoked_at IS NULL
        """
    )
    assert alive == [("worker@example.com",)]
    assert await log_in(directory) == 403
    assert await log_in(directory, "worker@example.com") == 200


async def test_people_of_the_directory_count_in_the_tier_of_the_vendor(directory: Admitting) -> None:
    directory.world.connection.execute(
        "UPDATE organizations SET max_users = 4 WHERE id = %s", (directory.organization_id,)
    )
    await directory.create("one@example.com")

    full = await directory.request(
        "POST", "/Users", {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "two@example.com"}
    )

    assert full.status == 400


async def test_the_customers_own_log_has_what_the_directory_changes(directory: Admitting) -> None:
    created = await directory.create(ADA)
    await directory.patch(created["id"], {"op": "replace", "path": "active", "value": False})
    group = await directory.request(
        "POST",
        "/Groups",
        {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
            "displayName": "Editors",
            "members": [{"value": created["id"]}],
        },
    )
    assert group.status == 201, group.text
    await directory.request("DELETE", f"/Users/{created['id']}")
    trade = directory.trade
    assert trade is not None

    of_customer = [(action, details) for action, _, details in trade.log_of(trade.customer, "") if "by" in details]
    of_vendor = [action for action, _, _ in trade.log_of(trade.vendor, "group.")]

    assert [action for action, _ in of_customer if not action.startswith("product_access")] == [
        "customer.user_added",
        "customer.user_changed",
        "group.created",
        "customer.user_removed",
    ]
    assert of_vendor == ["group.created"]
    added = next(details for action, details in of_customer if action == "customer.user_added")
    assert (added["by"], added["user_email"], added["customer_id"]) == ("vendor", ADA, str(directory.customer_id))
    in_internal = directory.world.rows(
        "SELECT action FROM audit_entries WHERE organization_id = %s", directory.internal_id
    )
    assert in_internal == []
