"""Streams audit logs to the SIEMs of organizations: leases streams that are due, sends a batch to each, records it.

A stream has one place, however much waits for it, so a receiver that is slow or dead delays no other one. The rules are
in `core/audit/siem_stream.py`; a crash leaves a lease that ends, and the batch is sent again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from core.audit import siem_stream
from core.audit.siem_stream import Receipt
from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from core.audit.siem_stream import LeasedStream
    from ports.audit.siem_sender import SiemSender
    from ports.database import Database
    from ports.metrics import Metrics
    from ports.unit_of_work import UnitOfWork

    Result = TypeVar("Result")

# Each takes some megabytes for its batch.
STREAMS_AT_ONCE_MAX: Final = 32
PERIOD_SECONDS: Final = 1.0
# A batch that was sent but not recorded is sent again, so the streamer waits for a database that is briefly away.
RECORD_SECONDS_MAX: Final = 20.0
RECORD_PAUSE_SECONDS: Final = 1.0

JOB_TYPE: Final = "siem"

log = structlog.get_logger(__name__)


class SiemStreamer:
    """An actor that drains: it finishes the batches in flight and leases no more."""

    def __init__(self, *, database: Database, sender: SiemSender, metrics: Metrics) -> None:
        self._database = database
        self._sender = sender
        self._metrics = metrics
        self._draining = trio.Event()
        self._is_database_away = False

    async def run(self) -> None:
        """Send what is due until told to drain."""
        places = trio.Semaphore(STREAMS_AT_ONCE_MAX)
        async with trio.open_nursery() as nursery:
            while not self._draining.is_set():
                # No more streams than places, so that no leased one waits.
                free = places.value
                leased = await self._lease(free)
                for stream in leased:
                    places.acquire_nowait()
                    nursery.start_soon(self._serve, stream, places)
                if len(leased) < free:
                    with trio.move_on_after(PERIOD_SECONDS):
                        await self._draining.wait()
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places:
                        pass

    def drain(self) -> None:
        """Finish the batches in flight, lease no more, and return from `run`."""
        self._draining.set()

    async def _lease(self, streams_max: int) -> Sequence[LeasedStream]:
        try:
            leased = await self._database.transact(siem_stream.lease, streams_max)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning("siem.database_away", retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return leased

    async def _serve(self, stream: LeasedStream, place: trio.Semaphore) -> None:
        began_at = trio.current_time()
        try:
            batch = await self._database.read(siem_stream.next_batch, stream)
            receipt = Receipt(received=0, status_code=None, error=None)
            if batch.events:
                events = siem_stream.to_send(stream, batch)
                receipt = await self._sender.send(stream.target, events)
                self._report(stream, len(events), receipt)
            await self._recorded(partial(siem_stream.record, stream=stream, batch=batch, receipt=receipt))
        except ServiceUnavailable as away:
            # It stays leased, and goes on after the lease.
            log.info("siem.postponed", siem_id=str(stream.id), reason=away.message)
        finally:
            place.release()
            self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)

    async def _recorded(self, record: Callable[[UnitOfWork], Result]) -> None:
        # Shielded, because what was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    await self._database.transact(record)
                except ServiceUnavailable as away:
                    log.warning("siem.record_postponed", reason=away.message)
                    await trio.sleep(RECORD_PAUSE_SECONDS)
                else:
                    return
        log.error("siem.not_recorded")

    def _report(self, stream: LeasedStream, events: int, receipt: Receipt) -> None:
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
