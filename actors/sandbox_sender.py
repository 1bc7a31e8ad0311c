"""Sends the events of the sandbox provider to the receiver, as the payment provider would.

An event that the receiver does not take is sent again later. A crash in between sends it twice, which the receiver has
to expect of every sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from actors.periods import PeriodicActor, PeriodicConnections
from core.billing import sandbox
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.event_receiver import BillingReceiver

BATCH_EVENTS_MAX = 20


class SandboxSender(PeriodicActor):
    """An actor; events that it has not sent remain queued, so it needs no draining."""

    job_type = "sandbox"
    # For late events, those that a command or another replica has queued, and repetitions.
    period_seconds = 1.0
    work_kind = WorkKind.SANDBOX

    def __init__(self, *, receiver: BillingReceiver, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._receiver = receiver

    async def work(self) -> None:
        """Send every event that is due, the oldest first."""
        while deliveries := await self._after_requests(sandbox.claim_deliveries, BATCH_EVENTS_MAX):
            for delivery in deliveries:
                is_taken = await self._receiver.deliver(delivery.body.encode())
                record = sandbox.record_delivered if is_taken else sandbox.record_refused
                await self._database.transact(record, delivery)
