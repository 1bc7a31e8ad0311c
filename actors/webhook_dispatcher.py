"""Sends deliveries to webhooks: leases webhooks that have something due, sends to many at once, records each outcome.

A webhook has one place, whatever waits for it, so a receiver that is slow, dead or flooded delays no other one. The
rules are in `core/webhooks/deliveries.py`; a crash leaves a lease that ends, and the delivery is sent again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from core.errors import ServiceUnavailable
from core.webhooks import deliveries
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from core.webhooks.deliveries import Attempt, DueDelivery, LeasedWebhook
    from ports.clock import Clock
    from ports.database import Database
    from ports.doorbells import AwaitableDoorbells
    from ports.metrics import Metrics
    from ports.unit_of_work import UnitOfWork
    from ports.webhooks.sender import WebhookSender

    Result = TypeVar("Result")

WEBHOOKS_AT_ONCE_MAX: Final = 64
# To one receiver at once, and the most that waits while the lease of a webhook runs.
DELIVERIES_AT_ONCE_MAX: Final = 8
ATTEMPTS_AT_ONCE_MAX: Final = WEBHOOKS_AT_ONCE_MAX * DELIVERIES_AT_ONCE_MAX
# For retries, and for deliveries that another replica made.
PERIOD_SECONDS: Final = 1.0
# A delivery that was sent but not recorded is sent again, so the dispatcher waits for a database that is briefly away.
RECORD_SECONDS_MAX: Final = 20.0
RECORD_PAUSE_SECONDS: Final = 1.0

JOB_TYPE: Final = "webhook"

log = structlog.get_logger(__name__)


class WebhookDispatcher:
    """An actor that drains: it finishes the attempts in flight and leases no more."""

    def __init__(
        self,
        *,
        database: Database,
        doorbells: AwaitableDoorbells,
        sender: WebhookSender,
        metrics: Metrics,
        clock: Clock,
    ) -> None:
        self._database = database
        self._doorbells = doorbells
        self._sender = sender
        self._metrics = metrics
        self._clock = clock
        self._is_draining = False
        self._is_database_away = False

    async def run(self) -> None:
        """Send what is due until told to drain."""
        places = trio.Semaphore(WEBHOOKS_AT_ONCE_MAX)
        async with trio.open_nursery() as nursery:
            while not self._is_draining:
                # No more webhooks than places, so that no leased one waits.
                free = places.value
                leased = await self._lease(free)
                for webhook in leased:
                    places.acquire_nowait()
                    nursery.start_soon(self._serve, webhook, places)
                if len(leased) < free:
                    await self._doorbells.wait(Bell.DELIVERIES, PERIOD_SECONDS)
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places:
                        pass

    def drain(self) -> None:
        """Finish the attempts in flight, lease no more, and return from `run`."""
        self._is_draining = True
        # It may be waiting, and would notice only after its period.
        self._doorbells.ring(Bell.DELIVERIES)

    async def _lease(self, webhooks_max: int) -> Sequence[LeasedWebhook]:
        try:
            leased = await self._database.transact(deliveries.lease, webhooks_max, DELIVERIES_AT_ONCE_MAX)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning("webhook.database_away", retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return leased

    async def _serve(self, webhook: LeasedWebhook, place: trio.Semaphore) -> None:
        try:
            async with trio.open_nursery() as nursery:
                for delivery in webhook.deliveries:
                    nursery.start_soon(self._deliver, webhook, delivery)
            await self._recorded(partial(deliveries.release, webhook=webhook))
        finally:
            place.release()
            # What was due beyond these deliveries is due again.
            self._doorbells.ring(Bell.DELIVERIES)

    async def _deliver(self, webhook: LeasedWebhook, delivery: DueDelivery) -> None:
        began_at = trio.current_time()
        now = self._clock()
        attempt = await self._sender.send(webhook.url, delivery, webhook.secrets.at(now), at=now)
        record = partial(deliveries.record, webhook=webhook, delivery=delivery, attempt=attempt)
        await self._recorded(record)
        self._report(webhook, delivery, attempt)
        self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)

    async def _recorded(self, record: Callable[[UnitOfWork], Result]) -> None:
        # Shielded, because what was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    await self._database.transact(record)
                except ServiceUnavailable as away:
                    log.warning("webhook.record_postponed", reason=away.message)
                    await trio.sleep(RECORD_PAUSE_SECONDS)
                else:
                    return
        log.error("webhook.not_recorded")

    def _report(self, webhook: LeasedWebhook, delivery: DueDelivery, attempt: Attempt) -> None:
        described = {
            "webhook_id": str(webhook.id),
            "organization_id": str(webhook.organization_id),
            "delivery_id": str(delivery.id),
            "attempt": delivery.attempt_count + 1,
            "status": attempt.status_code,
        }
        if attempt.is_success:
            self._metrics.webhook_delivered((self._clock() - delivery.queued_at).total_seconds())
            log.info("webhook.delivered", **described)
        else:
            log.warning("webhook.failed", **described, reason=attempt.error)
