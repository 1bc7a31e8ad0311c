"""Any order and repetition of a subscription's events leads to the state of their single delivery in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.billing import provider_events, receiver, reconciliation
from core.billing.provider import STATUSES, BillingMode
from tests.adapters.billing.histories import HAPPENINGS, Provider, provider_after
from tests.world.billing import Seller

Transact = Callable[..., Any]


BATCH_MAX = 10
TABLES = (
    "billing_events",
    "billing_subscriptions",
    "billing_cancellations",
    "billing_customers",
    "subscriptions",
    "mails",
)


def deliver(transact: Transact, event: dict[str, Any]) -> None:
    """Let the receiver apply an event."""
    transact(receiver.receive, provider_events.parse(event), BillingMode.SANDBOX)


def reconcile(transact: Transact, provider: Provider) -> None:
    """Read what is due from the provider."""
    batch = transact(reconciliation.claim, BillingMode.SANDBOX, BATCH_MAX)
    if batch is not None:
        for due in batch.due:
            transact(reconciliation.record, due, provider.read())
        transact(reconciliation.release, batch)


def state(seller: Seller) -> list[Any]:
    """Return everything that the events have led to."""
    rows = seller.world.rows
    return [
        rows("SELECT user_id, service_id, plan_id, status, current_period_end FROM subscriptions"),
        rows("SELECT id, organization_id, name, email, default_payment_method, deleted_at FROM billing_customers"),
        rows("SELECT id, customer_id, organization_id, service_id, user_id, outcome FROM billing_subscriptions"),
        rows("SELECT template, count(*) FROM mails GROUP BY template ORDER BY template"),
    ]


def delivered(transact: Transact, seller: Seller, provider: Provider, events: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the state after these events and the reconciliation, from an empty beginning."""
    for table in TABLES:
        seller.world.connection.execute(f"DELETE FROM {table}".encode())
    for event in events:
        if event.get("is_reconciliation"):
            reconcile(transact, provider)
        else:
            deliver(transact, event)
    reconcile(transact, provider)
    return state(seller)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), happenings=HAPPENINGS)
def test_any_order_and_repetition_of_events_ends_in_the_state_of_the_ordered_single_delivery(
    seller: Seller, transact: Transact, data: st.DataObject, happenings: list[tuple[str, int]]
) -> None:
    provider = provider_after(happenings, seller.metadata)
    ordered = delivered(transact, seller, provider, provider.events)

    repeated = provider.events + data.draw(st.lists(st.sampled_from(provider.events), max_size=6))
    readings = data.draw(st.lists(st.just({"is_reconciliation": True}), max_size=2))
    mixed = data.draw(st.permutations(repeated + readings))

    assert delivered(transact, seller, provider, mixed) == ordered


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happenings=HAPPENINGS)
@example(happenings=[("failed", 1), ("paid", 1)])
@example(happenings=[("renewed", 0), ("renewed", 0)])
@example(happenings=[("failed", 1), ("renewed", 0)])
@example(happenings=[("ended", 1), ("customer deleted", 0)])
@example(happenings=[("renewed", 0), ("renewed", 0), ("customer deleted", 0)])
def test_the_state_is_that_of_the_provider(
    seller: Seller, transact: Transact, happenings: list[tuple[str, int]]
) -> None:
    provider = provider_after(happenings, seller.metadata)

    [subscriptions, customers, _, _] = delivered(transact, seller, provider, provider.events)

    plan = seller.plans["pro" if provider.price == "price_pro" else "team"]
    end = datetime.fromtimestamp(provider.period_end, UTC)
    assert subscriptions == [(seller.buyer_id, seller.service.id, plan, STATUSES[provider.status].value, end)]
    [(_, organization_id, name, _, _, deleted_at)] = customers
    assert (organization_id, name) == (seller.organization_id, provider.name)
    assert (deleted_at is not None) == provider.is_customer_deleted
