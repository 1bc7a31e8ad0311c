"""What a vendor makes for a customer lies in an organization of its own, open exactly while the customer is."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.customers import customers, setup_callers
from core.services.services import Service
from ports.unit_of_work import UnitOfWork
from tests.world.trade import Trade


@pytest.fixture
async def made(trade: Trade) -> UUID:
    """A customer that the vendor has made, with an internal organization."""
    customer_id = UUID((await trade.at_vendor("POST", body={"name": "Globex"})).json["id"])
    return await with_internal(trade, customer_id)


async def with_internal(trade: Trade, customer_id: UUID) -> UUID:
    """Give a customer an internal organization, twice as a program would, and return the customer."""

    def add(uow: UnitOfWork) -> UUID:
        service = uow.services.by_slug(trade.vendor.organization_id, "shop")
        assert isinstance(service, Service)
        return setup_callers.lock_or_add(uow, customers.find(uow, service, customer_id)).id

    first = await trade.world.installation.database.transact(add)
    assert await trade.world.installation.database.transact(add) == first
    return customer_id


def status_of(trade: Trade, customer_id: UUID) -> str:
    return str(trade.world.value("SELECT status FROM organizations WHERE internal_of = %s", customer_id))


def set_status(trade: Trade, organization_id: UUID, status: str) -> None:
    trade.world.rows("UPDATE organizations SET status = %s WHERE id = %s RETURNING id", status, organization_id)


async def test_it_is_open_while_the_made_customer_waits_for_approval(trade: Trade, made: UUID) -> None:
    assert status_of(trade, made) == "active"


async def test_a_pause_closes_it_and_a_resumption_opens_it(trade: Trade, made: UUID) -> None:
    await trade.at_vendor("PATCH", f"/{made}", body={"paused": True})
    assert status_of(trade, made) == "suspended"

    await trade.at_vendor("PATCH", f"/{made}", body={"paused": False})
    assert status_of(trade, made) == "active"


async def test_the_status_of_either_organization_closes_it(trade: Trade, made: UUID) -> None:
    of_customer = trade.world.value("SELECT organization_id FROM service_customers WHERE id = %s", made)
    for organization_id, before in ((trade.vendor.organization_id, "active"), (of_customer, "pending")):
        for status in ("suspended", "rejected"):
            set_status(trade, organization_id, status)
            assert status_of(trade, made) == "suspended", (organization_id, status)
        set_status(trade, organization_id, before)
        assert status_of(trade, made) == "active"


async def test_one_of_an_organization_that_accepted_an_offer_is_closed_while_that_one_is_not_active(
    trade: Trade,
) -> None:
    customer_id = await with_internal(trade, UUID(await trade.begin()))

    assert status_of(trade, customer_id) == "active"
    set_status(trade, trade.customer.organization_id, "pending")
    assert status_of(trade, customer_id) == "suspended"


async def test_it_ends_with_the_customer(trade: Trade) -> None:
    customer_id = await with_internal(trade, UUID(await trade.begin()))

    await trade.at_vendor("DELETE", f"/{customer_id}")

    assert trade.world.value("SELECT count(*) FROM organizations WHERE internal_of IS NOT NULL") == 0
