"""Reconciliation: reads subscriptions from the provider whose events may be lost or have no order, or ends them there.

A subscription is due when its period has ended, when it had no event for long, or when two events of one second left
its state open. One replica at a time reads the subscriptions of an organization: it leases the organization's customer.

A subscription is ended at the provider when its user, service or organization is gone, so that charges stop. The
transaction that removes it queues its end: a trigger for deleted rows, `queue` for an anonymized account and for a
purchase that can no longer be delivered. The reconciler asks the provider afterwards, at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.billing import subscriptions
from core.billing.provider import BillingMode, ReadSubscription
from core.billing.subscriptions import Settlement, Source
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Longer than reading a whole batch may take.
LEASE: Final = timedelta(minutes=15)
# Until a subscription that the provider does not know is read again.
UNKNOWN_RETRY: Final = timedelta(days=1)
# Until a subscription is read again after a failure of the provider.
FAILURE_RETRY: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSubscription:
    """A subscription to read, and the time of its newest event, which every later reading reflects."""

    id: str
    newest_event_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The due subscriptions of one organization, which no other replica reads meanwhile."""

    organization_id: UUID
    customer_id: str
    leased_until: datetime
    due: Sequence[DueSubscription]


def claim(uow: UnitOfWork, mode: BillingMode, limit: int) -> Batch | None:
    """Take the lease on an organization with due subscriptions; None when there is none."""
    leased_until = uow.now + LEASE
    customer = uow.billing_customers.lease_due(mode, now=uow.now, leased_until=leased_until)
    if customer is None or customer.organization_id is None:
        return None
    return Batch(
        organization_id=customer.organization_id,
        customer_id=customer.id,
        leased_until=leased_until,
        due=uow.billing_subscriptions.due(customer.organization_id, customer.id, at=uow.now, limit=limit),
    )


def release(uow: UnitOfWork, batch: Batch) -> None:
    """End the lease."""
    uow.billing_customers.release(batch.organization_id, batch.customer_id, leased_until=batch.leased_until)


def record(uow: UnitOfWork, due: DueSubscription, read: ReadSubscription) -> Settlement:
    """Store a reading of a subscription, and settle it; a difference to the stored state is repaired and recorded."""
    known = subscriptions.lock(uow, due.id)
    before = known.subscription
    # The reading began after these events, so it is newer, whatever the clocks say.
    times = [time for time in (read.as_of, due.newest_event_at, before.read_as_of) if time is not None]
    uow.billing_subscriptions.save(replace(before, read=read.facts, read_as_of=max(times)))
    # Locked again, because the plan of the read price is known now.
    return subscriptions.settle(uow, subscriptions.lock(uow, due.id), source=Source.RECONCILIATION)


def record_failure(uow: UnitOfWork, due: DueSubscription) -> None:
    """Read the subscription again later, because the provider could not be asked."""
    uow.billing_subscriptions.postpone(due.id, until=uow.now + FAILURE_RETRY)


def record_unknown(uow: UnitOfWork, due: DueSubscription) -> None:
    """Read the subscription again later, although the provider does not know it; that changes nothing."""
    uow.billing_subscriptions.postpone(due.id, until=uow.now + UNKNOWN_RETRY)


# The reconciler asks the provider again so long after a failure or a crash.
CANCELLATION_RETRY: Final = timedelta(minutes=30)


def claim_cancellation(uow: UnitOfWork, mode: BillingMode) -> str | None:
    """Return a due subscription to end, None without one; it is due again later, unless `record` is called."""
    return uow.billing_cancellations.claim(mode, now=uow.now, due_again_at=uow.now + CANCELLATION_RETRY)


def record_cancellation(uow: UnitOfWork, subscription_id: str) -> None:
    """Record that the provider has ended a subscription."""
    uow.billing_cancellations.finish(subscription_id)
