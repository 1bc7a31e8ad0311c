"""Reads subscriptions from the payment provider whose events may be missing or have no order, and repairs differences.

Before that it ends there what was bought for a user, a service or an organization that is gone.

`core/billing/reconciliation.py` decides which are due. Every replica has a reconciler; one of them has the lease on an
organization at a time. It asks for one subscription after the other, with a pause, and stops for as long as the
provider wants when that asks to wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import structlog
import trio

from actors.periods import PeriodicActor, PeriodicConnections
from core.billing import reconciliation
from core.billing.provider import BillingFailed, BillingRateLimited
from core.billing.reconciliation import Batch, DueSubscription
from ports.mailboxes import Changed, Figure, WorkKind
from ports.metrics_of_work import ReconciliationOutcome

if TYPE_CHECKING:
    from ports.billing.gateway import BillingGateway

# How many subscriptions of one organization, and how many organizations, are read in one pass.
BATCH_SUBSCRIPTIONS_MAX = 20
BATCHES_MAX = 50
CANCELLATIONS_MAX = 200
# Ten requests a second, a tenth of what the provider allows.
PAUSE_SECONDS = 0.1
RATE_LIMIT_SECONDS_MAX = 3600.0

log = structlog.get_logger(__name__)


class BillingReconciler(PeriodicActor):
    """An actor; what it has not read stays due, so it needs no draining."""

    job_type = "billing_reconciliation"
    # For what another replica has found to be due, and what becomes due by time.
    period_seconds = 60.0
    work_kind = WorkKind.BILLING

    def __init__(self, *, gateway: BillingGateway, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._gateway = gateway

    async def work(self) -> None:
        self.rest_seconds = 0.0
        try:
            await self.reconcile()
        except BillingRateLimited as limited:
            self.rest_seconds = min(limited.retry_after_seconds, RATE_LIMIT_SECONDS_MAX)
            log.warning("billing.reconciler_waits", seconds=self.rest_seconds)

    async def reconcile(self) -> None:
        """End what has to end, and read what is due, organization by organization.

        Raise `BillingRateLimited` when the provider asks to wait.
        """
        await self._cancel_all()
        for _ in range(BATCHES_MAX):
            self.box.take()
            batch = await self._database.transact(reconciliation.claim, self._gateway.mode, BATCH_SUBSCRIPTIONS_MAX)
            if batch is None:
                return
            try:
                await self._read_all(batch)
            finally:
                # Also when this task is cancelled: otherwise no process would read this organization during the lease.
                with trio.CancelScope(shield=True):
                    await self._database.transact(reconciliation.release, batch)

    async def _cancel_all(self) -> None:
        """End the subscriptions whose user, service or organization is gone; a failure is tried again later."""
        for _ in range(CANCELLATIONS_MAX):
            self.box.take()
            subscription_id = await self._database.transact(reconciliation.claim_cancellation, self._gateway.mode)
            if subscription_id is None:
                return
            try:
                await self._gateway.cancel_subscription(subscription_id)
            except BillingRateLimited:
                raise
            except BillingFailed:
                log.warning("billing.cancellation_failed", billing_subscription_id=subscription_id)
            else:
                await self._database.transact(reconciliation.record_cancellation, subscription_id)
                log.info("billing.cancelled", billing_subscription_id=subscription_id)
            await trio.sleep(PAUSE_SECONDS)

    async def _read_all(self, batch: Batch) -> None:
        for due in batch.due:
            await self._read(due)
            await trio.sleep(PAUSE_SECONDS)

    async def _read(self, due: DueSubscription) -> None:
        try:
            read = await self._gateway.read_subscription(due.id)
        except BillingRateLimited:
            self._metrics.subscription_reconciled(ReconciliationOutcome.RATE_LIMITED)
            raise
        except BillingFailed:
            self._metrics.subscription_reconciled(ReconciliationOutcome.FAILED)
            await self._database.transact(reconciliation.record_failure, due)
            return
        if read is None:
            self._metrics.subscription_reconciled(ReconciliationOutcome.UNKNOWN)
            log.warning("billing.subscription_missing", billing_subscription_id=due.id)
            await self._database.transact(reconciliation.record_unknown, due)
            return
        settlement = await self._database.transact(reconciliation.record, due, read)
        self._metrics.subscription_reconciled(ReconciliationOutcome(settlement.outcome.value))
        log.info("billing.reconciled", billing_subscription_id=due.id, outcome=settlement.outcome.value)
        # Its change waits to be added up.
        self._mailboxes.send(WorkKind.SALES, Changed(Figure.SALES))
