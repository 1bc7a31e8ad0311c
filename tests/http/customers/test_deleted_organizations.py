"""What the vendor reads of a deleted customer, and the customer of a deleted vendor."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.world.signing_in import SignedInUser
from tests.world.team import Team
from tests.world.trade import Trade

OF_CUSTOMER, OF_VENDOR = "customer.", "product_access."
MANY = 501


@pytest.fixture
async def root(trade: Trade) -> SignedInUser:
    """A platform owner, who is signed in."""
    return await trade.world.signed_in_platform_owner()


async def delete(root: SignedInUser, organization_id: UUID) -> None:
    deleted = await root.delete(f"/api/platform/organizations/{organization_id}")
    assert deleted.status == 204, deleted.text


def last(trade: Trade, team: Team, prefix: str) -> tuple[str, UUID | None, dict[str, object]]:
    """Return the latest entry of an organization about relations, which has an event beside it that says the same."""
    action, actor, details = trade.log_of(team, prefix)[-1]
    events = trade.world.events(action)
    assert [(one, email) for one, email, data in events if data == details] == [(team.organization_id, None)]
    return action, actor, details


async def test_the_vendor_learns_that_a_customer_was_deleted(trade: Trade, root: SignedInUser) -> None:
    customer_id = await trade.begin(external_id="B-7")
    await trade.change_product(paused=True)

    await delete(root, trade.customer.organization_id)

    assert last(trade, trade.vendor, OF_CUSTOMER) == (
        "customer.ended",
        None,
        {
            "by": "customer",
            "customer_id": customer_id,
            "client_id": str(trade.service.client_id),
            "service_slug": "shop",
            "external_id": "B-7",
            "organization_slug": "beta",
            "organization_name": "Beta",
        },
    )


async def test_customers_learn_that_their_vendor_was_deleted(trade: Trade, root: SignedInUser) -> None:
    customer_id = await trade.begin(external_id="B-7")

    await delete(root, trade.vendor.organization_id)

    assert last(trade, trade.customer, OF_VENDOR) == (
        "product_access.ended",
        None,
        {
            "by": "vendor",
            "customer_id": customer_id,
            "client_id": str(trade.service.client_id),
            "service_name": "Shop",
            "vendor_slug": "acme",
            "vendor_name": "Acme",
        },
    )


async def test_an_offer_tells_nobody(trade: Trade, root: SignedInUser) -> None:
    await trade.offer()
    before = trade.log_of(trade.vendor, OF_CUSTOMER)

    await delete(root, trade.customer.organization_id)

    assert trade.log_of(trade.vendor, OF_CUSTOMER) == before


async def test_each_of_many_customers_learns_it_once(trade: Trade, root: SignedInUser) -> None:
    world = trade.world
    world.connection.execute(
        """
        WITH made AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT gen_random_uuid(), 'many-' || n, 'Many', 'active', o.tier_id, o.created_at, o.updated_at
            FROM   organizations o, generate_series(1, %s) AS n
            WHERE  o.id = %s
            RETURNING id, created_at
        )
        INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, created_at)
        SELECT gen_random_uuid(), %s, %s, id, created_at, created_at FROM made
        """,
        (MANY, trade.vendor.organization_id, trade.vendor.organization_id, trade.service.id),
    )

    await delete(root, trade.vendor.organization_id)

    told = [organization_id for organization_id, _, _ in world.events("product_access.ended")]
    assert len(told) == len(set(told)) == MANY
