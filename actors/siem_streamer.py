"""Streams audit logs to the SIEMs of organizations: leases streams that are due, sends a batch to each, records it.

A stream has one place, however much waits for it, so a receiver that is slow or dead delays no other one. The rules are
in `core/audit/siem_stream.py`; a crash leaves a lease that ends, and the batch is sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import structlog

from actors.dispatching import Capacity, Connections, Dispatcher
from core.audit import siem_stream
from core.audit.siem_stream import LeasedStream, SiemEvent, StreamReceipt
from core.errors import ServiceUnavailable
from ports.clock import Clock
from ports.mailboxes import WorkKind
from ports.metrics_of_work import AttemptOutcome

if TYPE_CHECKING:
    from ports.audit.siem import SiemSender
    from ports.unit_of_work import UnitOfWork

# Each takes some megabytes for its batch.
STREAMS_AT_ONCE_MAX: Final = 32
SLOW_STREAMS_AT_ONCE_MAX: Final = 64
ATTEMPTS_AT_ONCE_MAX: Final = STREAMS_AT_ONCE_MAX + SLOW_STREAMS_AT_ONCE_MAX

log = structlog.get_logger(__name__)


class SiemStreamer(Dispatcher[LeasedStream]):
    """An actor that drains: it finishes the batches in flight and leases no more."""

    job_type = "siem"
    subject = "siem"
    work_kind = WorkKind.STREAMS
    capacity = Capacity(targets_max=STREAMS_AT_ONCE_MAX, slow_targets_max=SLOW_STREAMS_AT_ONCE_MAX)

    def __init__(self, *, sender: SiemSender, clock: Clock, **connections: Unpack[Connections]) -> None:
        super().__init__(**connections)
        self._sender = sender
        self._clock = clock

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedStream]:
        return siem_stream.lease(uow, free.targets_max)

    def identity(self, target: LeasedStream) -> UUID:
        return target.id

    async def serve(self, target: LeasedStream) -> bool:
        await self._precedence.turn(self.job_type)
        with self._measured():
            try:
                batch = await self._database.read(siem_stream.next_batch, target)
            except ServiceUnavailable as away:
                # It stays leased, and goes on after the lease.
                log.info("siem.postponed", siem_id=str(target.id), reason=away.message)
                return False
            receipt = StreamReceipt(received=0, status_code=None, error=None)
            if batch.events:
                events = siem_stream.to_send(target, batch)
                receipt = await self._sender.send(target.target, events)
                self._count(events, receipt)
                _report(target, len(events), receipt)
            await self._recorded(partial(siem_stream.record, stream=target, batch=batch, receipt=receipt))
        # More is due at the next period, so that a long backlog leaves something to others.
        return False

    def _count(self, events: Sequence[SiemEvent], receipt: StreamReceipt) -> None:
        oldest = self._clock() - min(event.created_at for event in events[: max(1, receipt.received)])
        self._metrics.siem_attempted(
            AttemptOutcome.of(receipt.status_code, is_success=receipt.error is None),
            lag_seconds=oldest.total_seconds() if receipt.received else None,
        )


def _report(stream: LeasedStream, events: int, receipt: StreamReceipt) -> None:
    described = {
        "siem_id": str(stream.id),
        "organization_id": str(stream.organization_id),
        "events": events,
        "received": receipt.received,
        "status": receipt.status_code,
    }
    if receipt.error is None:
        log.info("siem.sent", **described)
    else:
        log.warning("siem.failed", **described, failures=stream.failures + 1, reason=receipt.error)
