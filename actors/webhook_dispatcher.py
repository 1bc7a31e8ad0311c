"""Sends deliveries to webhooks; the rules are in `core/webhooks/deliveries.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import structlog

from actors.dispatching import DELIVERIES_AT_ONCE_MAX, Capacity, Connections, Dispatcher
from core.attempts import Attempt
from core.webhooks import deliveries
from core.webhooks.deliveries import DueDelivery, LeasedWebhook
from ports.clock import Clock
from ports.mailboxes import WorkKind
from ports.metrics_of_work import AttemptOutcome

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork
    from ports.webhooks.webhooks import WebhookSender

WEBHOOKS_AT_ONCE_MAX: Final = 64
SLOW_WEBHOOKS_AT_ONCE_MAX: Final = 128
ATTEMPTS_AT_ONCE_MAX: Final = (WEBHOOKS_AT_ONCE_MAX + SLOW_WEBHOOKS_AT_ONCE_MAX) * DELIVERIES_AT_ONCE_MAX

log = structlog.get_logger(__name__)


class WebhookDispatcher(Dispatcher[LeasedWebhook]):
    """An actor that drains."""

    job_type = "webhook"
    work_kind = WorkKind.DELIVERIES
    capacity = Capacity(
        targets_max=WEBHOOKS_AT_ONCE_MAX,
        slow_targets_max=SLOW_WEBHOOKS_AT_ONCE_MAX,
        items_max=DELIVERIES_AT_ONCE_MAX,
    )

    def __init__(self, *, sender: WebhookSender, clock: Clock, **connections: Unpack[Connections]) -> None:
        super().__init__(**connections)
        self._sender = sender
        self._clock = clock

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedWebhook]:
        return deliveries.lease(uow, free.targets_max, free.items_max)

    def identity(self, target: LeasedWebhook) -> UUID:
        return target.id

    async def serve(self, target: LeasedWebhook) -> bool:
        release = partial(deliveries.release, webhook=target)
        return await self._serve_each(target, target.deliveries, partial(self._deliver, target), release)

    async def _deliver(self, webhook: LeasedWebhook, delivery: DueDelivery) -> None:
        with self._measured():
            now = self._clock()
            secrets = webhook.secrets.at(now)
            attempt = await self._sender.send(webhook.organization_id, webhook.url, delivery, secrets, at=now)
            await self._recorded(partial(deliveries.record, webhook=webhook, delivery=delivery, attempt=attempt))
            self._report(webhook, delivery, attempt)

    def _report(self, webhook: LeasedWebhook, delivery: DueDelivery, attempt: Attempt) -> None:
        described = {
            "webhook_id": str(webhook.id),
            "organization_id": str(webhook.organization_id),
            "delivery_id": str(delivery.id),
            "attempt": delivery.attempt_count + 1,
            "status": attempt.status_code,
        }
        self._metrics.webhook_attempted(AttemptOutcome.of(attempt.status_code, is_success=attempt.is_success))
        if attempt.is_success:
            self._metrics.webhook_delivered((self._clock() - delivery.queued_at).total_seconds())
            log.info("webhook.delivered", **described)
        else:
            log.warning("webhook.failed", **described, reason=attempt.error)
