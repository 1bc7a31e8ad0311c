"""Receiving an event of the payment provider: stored and applied in one transaction, once for each event id."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from core.billing import provider_customers, subscriptions
from core.billing.provider import BillingMode
from core.billing.provider_customers import CUSTOMER_EFFECTS
from core.billing.provider_events import BillingEvent
from core.billing.subscriptions import SubscriptionOutcome
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class EventReceipt(StrEnum):
    """What became of an event; the answer is 200 for all of them."""

    DUPLICATE = "duplicate"
    IGNORED = "ignored"  # It has no effect here.
    PARKED = "parked"
    APPLIED = "applied"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The result for the log: what became of the event, and the events that contradict stored data."""

    receipt: EventReceipt
    refused: tuple[str, ...] = ()


_RECEIPTS = {
    SubscriptionOutcome.PARKED: EventReceipt.PARKED,
    SubscriptionOutcome.APPLIED: EventReceipt.APPLIED,
    SubscriptionOutcome.CONFLICT: EventReceipt.CONFLICT,
}


def receive(uow: UnitOfWork, event: BillingEvent, mode: BillingMode) -> Received:
    """Store an event, and apply it unless it was received before."""
    is_new = uow.billing_events.defer_add(event)
    if event.subscription_id is not None:
        # Every transaction locks in the same order: the customer, then its subscription.
        if event.customer_id is not None:
            uow.billing_customers.defer_hold(event.customer_id)
        known = uow.billing_subscriptions.defer_known(event.subscription_id, event.customer_id)
        if not is_new():
            return Received(receipt=EventReceipt.DUPLICATE)
        if event.customer_id is not None:
            uow.billing_customers.ensure_held(event.customer_id, mode)
        settlement = subscriptions.settle(uow, known(), invoice_url=event.invoice_url)
        return Received(receipt=_RECEIPTS[settlement.outcome], refused=settlement.refused)
    if not is_new():
        return Received(receipt=EventReceipt.DUPLICATE)
    if event.customer_id is None or event.effect not in CUSTOMER_EFFECTS:
        return Received(receipt=EventReceipt.IGNORED)
    customer = uow.billing_customers.lock(event.customer_id, mode)
    must_settle = provider_customers.apply(uow, event, customer)
    refused = subscriptions.settle_all_of(uow, customer.id) if must_settle else ()
    return Received(receipt=EventReceipt.APPLIED, refused=refused)
