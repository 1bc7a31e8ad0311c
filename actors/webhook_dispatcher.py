"""Sends deliveries to webhooks; the rules are in `core/webhooks/deliveries.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import structlog

from actors.dispatching import DELIVERIES_AT_ONCE_MAX, Dispatcher
from core.webhooks import deliveries
from core.webhooks.deliveries import DueDelivery, LeasedWebhook
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.attempts import Attempt
    from ports.unit_of_work import UnitOfWork
    from ports.webhooks.sender import WebhookSender

WEBHOOKS_AT_ONCE_MAX: Final = 64
ATTEMPTS_AT_ONCE_MAX: Final = WEBHOOKS_AT_ONCE_MAX * DELIVERIES_AT_ONCE_MAX

JOB_TYPE: Final = "webhook"

log = structlog.get_logger(__name__)


class WebhookDispatcher(Dispatcher[LeasedWebhook, DueDelivery]):
    """An actor that drains."""

    job_type = JOB_TYPE
    bell = Bell.DELIVERIES
    targets_at_once_max = WEBHOOKS_AT_ONCE_MAX

    def __init__(self, *, sender: WebhookSender, **connections: Any) -> None:
        super().__init__(**connections)
        self._sender = sender

    def lease(self, uow: UnitOfWork, targets_max: int, items_max: int) -> Sequence[LeasedWebhook]:
        return deliveries.lease(uow, targets_max, items_max)

    def items_of(self, target: LeasedWebhook) -> Sequence[DueDelivery]:
        return target.deliveries

    async def send(self, target: LeasedWebhook, item: DueDelivery) -> Attempt:
        now = self._clock()
        return await self._sender.send(target.url, item, target.secrets.at(now), at=now)

    def record(self, uow: UnitOfWork, target: LeasedWebhook, item: DueDelivery, attempt: Attempt) -> object:
        return deliveries.record(uow, target, item, attempt)

    def release(self, uow: UnitOfWork, target: LeasedWebhook) -> None:
        deliveries.release(uow, target)

    def report(self, target: LeasedWebhook, item: DueDelivery, attempt: Attempt) -> None:
        described = {
            "webhook_id": str(target.id),
            "organization_id": str(target.organization_id),
            "delivery_id": str(item.id),
            "attempt": item.attempt_count + 1,
            "status": attempt.status_code,
        }
        if attempt.is_success:
            self._metrics.webhook_delivered((self._clock() - item.queued_at).total_seconds())
            log.info("webhook.delivered", **described)
        else:
            log.warning("webhook.failed", **described, reason=attempt.error)
