"""Use cases of billing that the routes reach only in a race, or that operators call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.billing import checkout, provider_customers, provider_events, receiver, sandbox
from core.billing.checkout import Checkout, Started
from core.billing.provider import BillingFailed, BillingMode
from core.billing.provider_customers import CustomerCreation
from core.billing.receiver import EventReceipt, Received
from core.billing.sandbox import Posting, SandboxAction, SandboxSubscriptionUnknown
from tests.world.billing import CUSTOMER, SUBSCRIPTION, Seller
from tests.world.builder import NO_ID, new_id

Transact = Callable[..., Any]


MODE = BillingMode.SANDBOX


def deliver(transact: Transact, event: dict[str, Any]) -> Received:
    """Let the receiver apply an event."""
    return transact(receiver.receive, provider_events.parse(event), MODE)


def started(seller: Seller, transact: Transact) -> Started:
    """Return a checkout of the plan `pro`."""
    plan = transact(lambda uow: uow.plans.find(seller.organization_id, seller.service.id, seller.plans["pro"]))
    creation = CustomerCreation(organization_id=seller.organization_id, name="Acme", idempotency_key="key")
    return Started(
        checkout=Checkout(
            id=NO_ID,
            organization_id=seller.organization_id,
            service_id=seller.service.id,
            user_id=seller.buyer_id,
            plan_id=plan.id,
            price_id="price_pro",
            success_url="https://app.example.com/thanks",
            cancel_url="https://app.example.com/prices",
            created_at=seller.world.clock(),
        ),
        customer_id=None,
        customer=creation,
        plan=plan,
        service_name="Shop",
    )


def buy(seller: Seller, transact: Transact) -> str:
    """Buy a plan in the sandbox; return the id of the subscription."""
    start = started(seller, transact)
    customer_id = transact(sandbox.create_customer, start.customer)
    session = transact(sandbox.open_checkout, start.order(customer_id), base_url="", key=start.checkout.idempotency_key)
    return transact(sandbox.pay, session.session_id).subscription_id


def waiting(seller: Seller) -> int:
    """Return how many events wait to be sent."""
    return seller.world.value("SELECT count(*) FROM sandbox_deliveries")


def test_an_order_names_what_is_bought(seller: Seller, transact: Transact) -> None:
    start = started(seller, transact)

    order = start.order(CUSTOMER)

    assert (order.customer_id, order.price_id, order.plan_name) == (CUSTOMER, "price_pro", "Pro")
    assert order.metadata == seller.metadata
    assert start.checkout.idempotency_key == f"gatehouse-checkout-{NO_ID}"


def test_of_two_customers_that_were_made_for_an_organization_the_first_one_stays(
    seller: Seller, transact: Transact
) -> None:
    first = transact(checkout.bind_customer, seller.organization_id, "cus_1", MODE)
    second = transact(checkout.bind_customer, seller.organization_id, "cus_2", MODE)

    assert (first, second) == ("cus_1", "cus_1")


def test_a_customer_of_an_organization_that_was_deleted_meanwhile_is_a_billing_error(
    seller: Seller, transact: Transact
) -> None:
    with pytest.raises(BillingFailed):
        transact(checkout.bind_customer, NO_ID, "cus_1", MODE)


def test_of_two_customers_that_were_made_for_an_end_user_the_first_one_stays(
    seller: Seller, transact: Transact
) -> None:
    creation = transact(
        provider_customers.creation_of_user,
        seller.organization_id,
        seller.service.id,
        seller.buyer_id,
        "buyer@example.com",
        MODE,
    )

    bound = [transact(checkout.bind_created, creation, made, MODE) for made in ("cus_1", "cus_2", "cus_1")]

    assert bound == ["cus_1"] * 3
    # Nor does it become the organization's.
    own = CustomerCreation(organization_id=seller.organization_id, name="Acme", idempotency_key="key")
    with pytest.raises(BillingFailed):
        transact(checkout.bind_created, own, "cus_1", MODE)
    assert transact(checkout.bind_created, own, "cus_2", MODE) == "cus_2"
    with pytest.raises(BillingFailed):
        transact(checkout.bind_created, replace(creation, user_id=seller.world.user("bob@example.com")), "cus_2", MODE)


def test_a_customer_of_an_end_user_who_was_deleted_meanwhile_is_a_billing_error(
    seller: Seller, transact: Transact
) -> None:
    creation = transact(
        provider_customers.creation_of_user, seller.organization_id, seller.service.id, NO_ID, "gone@example.com", MODE
    )

    with pytest.raises(BillingFailed):
        transact(checkout.bind_created, creation, "cus_1", MODE)


def test_the_key_of_a_customer_does_not_depend_on_a_concurrent_request(seller: Seller, transact: Transact) -> None:
    before = transact(provider_customers.creation, seller.organization_id, "Acme", MODE)
    seller.bind_customer()

    assert transact(provider_customers.creation, seller.organization_id, "Acme", MODE) == before


def test_an_invoice_without_a_customer_counts_for_its_subscription(seller: Seller, transact: Transact) -> None:
    seller.bind_customer()
    deliver(transact, seller.event("customer.subscription.created", seller.subscription()))

    received = deliver(
        transact, seller.event("invoice.payment_failed", seller.invoice(customer=None), created=seller.at + 1)
    )

    assert received == Received(receipt=EventReceipt.APPLIED)
    assert seller.state() == ("pro", "past_due")


def test_a_repeated_event_is_a_duplicate_whatever_it_is_about(seller: Seller, transact: Transact) -> None:
    events = [
        seller.event("customer.subscription.created", seller.subscription()),
        seller.event("customer.updated", {"id": CUSTOMER}),
        seller.event("charge.succeeded", {"id": "ch_1"}),
    ]

    first = [deliver(transact, event).receipt for event in events]
    second = [deliver(transact, event).receipt for event in events]

    assert first == [EventReceipt.PARKED, EventReceipt.APPLIED, EventReceipt.IGNORED]
    assert second == [EventReceipt.DUPLICATE] * 3


def test_a_contradiction_that_was_parked_is_refused_once_when_its_customer_is_known(
    seller: Seller, transact: Transact
) -> None:
    contradiction = seller.subscription(metadata=seller.metadata | {"plan_id": str(new_id())})
    deliver(transact, seller.event("customer.subscription.created", contradiction))
    deliver(transact, seller.event("customer.subscription.updated", seller.subscription(), created=seller.at + 1))

    metadata = {"org_id": str(seller.organization_id)}
    received = deliver(transact, seller.event("customer.created", {"id": CUSTOMER, "metadata": metadata}))

    assert received.refused == ("evt_1",)
    assert seller.state() == ("pro", "active")


def test_a_plan_that_was_deleted_before_its_purchase_was_known_leaves_it_parked(
    seller: Seller, transact: Transact
) -> None:
    seller.bind_customer()
    session = {"id": "cs_1", "customer": CUSTOMER, "subscription": SUBSCRIPTION, "metadata": seller.metadata}
    details = {"subscription": SUBSCRIPTION, "metadata": seller.metadata}
    deliver(transact, seller.event("invoice.paid", seller.invoice(parent={"subscription_details": details})))
    seller.world.connection.execute("DELETE FROM plans WHERE id = %s", (seller.plans["pro"],))

    received = deliver(transact, seller.event("checkout.session.completed", session, created=seller.at + 1))

    assert received.receipt is EventReceipt.PARKED
    assert seller.subscriptions() == []


def test_a_subscription_keeps_its_plan_when_the_bought_one_is_gone(seller: Seller, transact: Transact) -> None:
    seller.bind_customer()
    deliver(transact, seller.event("customer.subscription.created", seller.subscription()))
    changed = seller.subscription(price="price_team")
    deliver(transact, seller.event("customer.subscription.updated", changed, created=seller.at + 1))
    seller.world.connection.execute("DELETE FROM plans WHERE id = %s", (seller.plans["pro"],))

    unknown = seller.subscription("past_due", price="price_unknown")
    deliver(transact, seller.event("customer.subscription.updated", unknown, created=seller.at + 2))

    assert seller.state() == ("team", "past_due")


def test_an_operator_makes_things_happen_in_the_sandbox(seller: Seller, transact: Transact) -> None:
    subscription_id = buy(seller, transact)
    before = waiting(seller)

    failed = transact(sandbox.act, subscription_id, SandboxAction.FAIL, Posting(is_twice=True))

    assert failed.status == "past_due"
    assert waiting(seller) - before == 4
    assert [one.status for one in transact(sandbox.list_subscriptions, 10)] == ["past_due"]


def test_an_operator_is_told_of_an_unknown_subscription(transact: Transact) -> None:
    with pytest.raises(SandboxSubscriptionUnknown):
        transact(sandbox.act, "sub_sandbox_1", SandboxAction.RENEW, Posting())


def test_the_sandbox_makes_a_customer_once_for_a_key(seller: Seller, transact: Transact) -> None:
    creation = CustomerCreation(organization_id=seller.organization_id, name="Acme", idempotency_key="key")

    first, second = transact(sandbox.create_customer, creation), transact(sandbox.create_customer, creation)

    assert first == second
    assert waiting(seller) == 1


def test_the_sandbox_makes_a_page_once_for_a_key(seller: Seller, transact: Transact) -> None:
    start = started(seller, transact)
    order = start.order(transact(sandbox.create_customer, start.customer))

    sessions = [transact(sandbox.open_checkout, order, base_url="", key="key") for _ in range(2)]

    assert sessions[0] == sessions[1]


def test_the_sandbox_is_read_as_the_provider_is(seller: Seller, transact: Transact) -> None:
    subscription_id = buy(seller, transact)

    read = transact(sandbox.read_subscription, subscription_id)

    assert (read.facts.price_id, read.facts.binding.metadata) == ("price_pro", seller.metadata)
    assert read.facts.period_end == seller.world.clock() + timedelta(days=30)
    assert transact(sandbox.read_subscription, "sub_sandbox_1") is None
