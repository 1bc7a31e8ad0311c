"""What the events of the payment provider do to its customers."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from tests.world.billing import CHECKOUT, CUSTOMER, Seller


def customer(seller: Seller, customer_id: str = CUSTOMER, **changes: Any) -> dict[str, Any]:
    """Return a customer that names the seller's organization."""
    return {"id": customer_id, "object": "customer", "metadata": {"org_id": str(seller.organization_id)}} | changes


def bound_to(seller: Seller, customer_id: str = CUSTOMER) -> Any:
    """Return the organization of a customer."""
    return seller.world.value("SELECT organization_id FROM billing_customers WHERE id = %s", customer_id)


def default_method(seller: Seller) -> str | None:
    """Return the default payment method of the customer."""
    return seller.world.value("SELECT default_payment_method FROM billing_customers WHERE id = %s", CUSTOMER)


async def test_a_new_customer_is_bound_to_the_organization_in_its_metadata(seller: Seller) -> None:
    await seller.report("customer.created", customer(seller))

    assert bound_to(seller) == seller.organization_id


async def test_a_customer_is_not_bound_to_an_organization_that_has_one(seller: Seller) -> None:
    seller.bind_customer("cus_first")

    await seller.report("customer.created", customer(seller))

    assert bound_to(seller) is None


async def test_a_bound_customer_stays_with_its_organization(seller: Seller) -> None:
    globex = seller.world.organization("globex")
    seller.bind_customer()

    await seller.report("customer.created", customer(seller, metadata={"org_id": str(globex)}))

    assert bound_to(seller) == seller.organization_id


@pytest.mark.parametrize("org_id", ["", "acme", "01920000-0000-7000-8000-000000000000", None, 5])
async def test_a_customer_of_no_organization_is_bound_to_none(seller: Seller, org_id: Any) -> None:
    await seller.report("customer.created", customer(seller, metadata={"org_id": org_id}))

    assert bound_to(seller) is None


async def test_only_a_new_customer_is_bound(seller: Seller) -> None:
    await seller.report("customer.updated", customer(seller))

    assert bound_to(seller) is None


async def test_a_changed_customer_is_synchronized(seller: Seller) -> None:
    seller.bind_customer()

    await seller.report(
        "customer.updated",
        customer(
            seller, name="Acme Ltd", email="pay@acme.example", invoice_settings={"default_payment_method": "pm_9"}
        ),
    )

    assert seller.world.rows("SELECT name, email, default_payment_method FROM billing_customers") == [
        ("Acme Ltd", "pay@acme.example", "pm_9")
    ]


async def test_an_older_change_of_a_customer_does_not_overwrite_a_newer_one(seller: Seller) -> None:
    seller.bind_customer()
    await seller.report("customer.updated", customer(seller, name="New"))

    await seller.report("customer.updated", customer(seller, name="Old"), created=seller.at - 60)

    assert seller.world.value("SELECT name FROM billing_customers") == "New"


async def test_a_deleted_customer_ends_its_subscriptions_and_makes_room_for_another(seller: Seller) -> None:
    await seller.sell()

    await seller.report("customer.deleted", customer(seller))
    await seller.report("customer.created", customer(seller, "cus_second"))

    assert seller.state() == ("pro", "cancelled")
    assert bound_to(seller, "cus_second") == seller.organization_id


async def test_events_of_a_deleted_customer_do_not_revive_its_subscription(seller: Seller) -> None:
    await seller.sell()
    await seller.report("customer.deleted", customer(seller))

    await seller.report("customer.subscription.updated", seller.subscription())

    assert seller.state() == ("pro", "cancelled")


async def test_an_attached_payment_method_is_the_default_until_it_is_detached(seller: Seller) -> None:
    seller.bind_customer()
    await seller.report("payment_method.attached", {"id": "pm_1", "customer": CUSTOMER})
    attached = default_method(seller)

    detached = seller.event("payment_method.detached", {"id": "pm_1", "customer": None})
    detached["data"]["previous_attributes"] = {"customer": CUSTOMER}
    detached["created"] += 1
    await seller.send(detached)

    assert (attached, default_method(seller)) == ("pm_1", None)


async def test_the_default_payment_method_does_not_depend_on_the_order_of_events(seller: Seller) -> None:
    seller.bind_customer()
    gone = seller.event("payment_method.detached", {"id": "pm_1", "customer": CUSTOMER}, created=seller.at + 2)
    history = [
        seller.event("payment_method.attached", {"id": "pm_1", "customer": CUSTOMER}),
        seller.event("payment_method.attached", {"id": "pm_2", "customer": CUSTOMER}, created=seller.at + 1),
        gone,
        seller.event("payment_method.attached", {"id": "pm_3", "customer": CUSTOMER}, created=seller.at + 3),
        seller.event("payment_method.detached", {"id": "pm_3", "customer": CUSTOMER}, created=seller.at + 4),
    ]

    for order in list(permutations(history))[::7]:
        seller.world.connection.execute("DELETE FROM billing_events")
        seller.world.connection.execute("UPDATE billing_customers SET default_payment_method = NULL")
        for event in order:
            await seller.send(event)
        assert default_method(seller) is None, [event["id"] for event in order]


async def test_customers_of_other_modes_are_not_mixed(seller: Seller) -> None:
    seller.bind_customer("cus_live", mode="live")
    seller.world.clock.advance(timedelta(seconds=1))

    await seller.report("customer.created", customer(seller))

    assert bound_to(seller) == seller.organization_id


async def test_a_person_who_is_forgotten_leaves_no_trace_at_a_customer(seller: Seller) -> None:
    seller.bind_customer()
    await seller.report("customer.updated", customer(seller, name="Bo Buyer", email="buyer@example.com"))
    await (await seller.buyer()).post(CHECKOUT, seller.purchase())
    owner = await seller.world.signed_in_platform_owner()

    answer = await owner.delete(f"/api/privacy/forget/{seller.buyer_id}")

    assert answer.status in {200, 204}, answer.text
    assert seller.world.rows("SELECT name, email FROM billing_customers") == [(None, None)]
    assert seller.world.rows("SELECT FROM billing_checkouts") == []
