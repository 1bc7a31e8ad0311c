"""What the backend of a service sees of the people that its vendor admits for a customer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world import internal
from tests.world.customer_backend import CustomerBackend
from tests.world.directory import TOKEN, Directory, insert_scim_token
from tests.world.people_events import publish_everything


@pytest.fixture
async def directory(shop: CustomerBackend) -> Directory:
    """The directory of the customer `beta`, which the vendor has connected."""
    internal_id = await internal.internal_of(shop.trade.world, UUID(await shop.trade.begin()))
    insert_scim_token(shop.trade.world, internal_id, TOKEN, maker_role="owner", groups="directory")
    return Directory(shop.trade.vendor)


async def news(shop: CustomerBackend) -> list[tuple[str, str | None, str | None]]:
    """Return what the vendor has learned of people of its customers, and forget it."""
    world = shop.trade.world
    await publish_everything(world.installation.database)
    told = world.rows("SELECT organization_id, type, data FROM events WHERE type LIKE 'customer.user%' ORDER BY id")
    world.connection.execute("DELETE FROM events")
    assert {organization_id for organization_id, _, _ in told} <= {shop.trade.vendor.organization_id}
    return [(kind, data.get("email"), data.get("name")) for _, kind, data in told]


async def people(shop: CustomerBackend) -> list[dict[str, Any]]:
    customer_id = shop.trade.world.value("SELECT id FROM service_customers")
    answer = await shop.backend.request("GET", f"/customers/{customer_id}/users")
    assert answer.status == 200, answer.text
    return list(answer.json["users"])


async def test_people_of_the_directory_are_seen_at_once_and_told(shop: CustomerBackend, directory: Directory) -> None:
    ada = shop.trade.world.user("ada@example.com")
    shop.trade.world.connection.execute("UPDATE users SET name = 'Ada of the account' WHERE id = %s", (ada,))
    created = await directory.create("ada@example.com", displayName="Ada")

    assert await news(shop) == [("customer.user_added", "ada@example.com", "Ada")]
    [seen] = await people(shop)
    assert (seen["email"], seen["name"], seen["last_sign_in_at"]) == ("ada@example.com", "Ada", None)
    await directory.patch(created["id"], {"op": "replace", "path": "displayName", "value": "Ada L."})
    assert await news(shop) == [("customer.user_changed", "ada@example.com", "Ada L.")]
    await directory.patch(created["id"], {"op": "replace", "path": "active", "value": False})
    assert await news(shop) == [("customer.user_removed", None, None)]
    assert await people(shop) == []


async def test_another_vendor_of_the_same_organization_is_told_nothing(
    shop: CustomerBackend, directory: Directory
) -> None:
    world = shop.trade.world
    other = world.team("initech")
    desk = world.service(other.organization_id, "desk")
    world.serve_customers(desk)
    world.customer(desk, shop.trade.customer.organization_id, shares_directory=True)
    await publish_everything(world.installation.database)
    world.connection.execute("DELETE FROM events")

    await directory.create("ada@example.com")

    assert [kind for kind, _, _ in await news(shop)] == ["customer.user_added"]
