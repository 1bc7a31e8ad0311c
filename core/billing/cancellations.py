"""Ends subscriptions at the payment provider whose user, service or organization is gone, so that charges stop.

The transaction that removes a bought subscription queues its end: a trigger for deleted rows, `queue` for an anonymized
account and for a purchase that can no longer be delivered. The reconciler asks the provider afterwards, at least once.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.billing.provider import BillingMode

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reconciler asks the provider again so long after a failure or a crash.
RETRY: Final = timedelta(minutes=30)


def claim(uow: UnitOfWork, mode: BillingMode) -> str | None:
    """Return a due subscription to end, None without one; it is due again later, unless `record` is called."""
    return uow.billing_cancellations.claim(mode, now=uow.now, due_again_at=uow.now + RETRY)


def record(uow: UnitOfWork, subscription_id: str) -> None:
    """Record that the provider has ended a subscription."""
    uow.billing_cancellations.finish(subscription_id)
