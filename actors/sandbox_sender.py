"""Sends the events of the sandbox provider to the receiver, as the payment provider would.

An event that the receiver does not take is sent again later. A crash in between sends it twice, which the receiver has
to expect of every sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from core.billing import sandbox
from core.errors import ServiceUnavailable
from ports.doorbells import AwaitableDoorbells, Bell

if TYPE_CHECKING:
    from ports.database import Database
    from ports.event_receiver import BillingReceiver

# For late events, those that a command or another replica has queued, and repetitions.
PERIOD_SECONDS = 1.0
BATCH_EVENTS_MAX = 20

log = structlog.get_logger(__name__)


class SandboxSender:
    """An actor; events that it has not sent remain queued, so it needs no draining."""

    def __init__(self, *, database: Database, doorbells: AwaitableDoorbells, receiver: BillingReceiver) -> None:
        self._database = database
        self._doorbells = doorbells
        self._receiver = receiver

    async def run(self) -> None:
        """Send what is due every period and at every ring, until cancelled."""
        while True:
            try:
                await self.send_due()
            except ServiceUnavailable as away:
                log.info("job.postponed", job="sandbox", reason=away.message, retry_seconds=PERIOD_SECONDS)
            await self._doorbells.wait(Bell.SANDBOX, PERIOD_SECONDS)

    async def send_due(self) -> None:
        """Send every event that is due, the oldest first."""
        while deliveries := await self._database.transact(sandbox.claim_deliveries, BATCH_EVENTS_MAX):
            for delivery in deliveries:
                is_taken = await self._receiver.deliver(delivery.body.encode())
                record = sandbox.record_delivered if is_taken else sandbox.record_refused
                await self._database.transact(record, delivery)
