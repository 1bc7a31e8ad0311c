"""Hands committed events on: gives them their positions in the feed, and makes the deliveries to webhooks.

Every replica has a sequencer, and one of them works at a time. It is woken by the bell of events, and by its period for
events of other replicas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog
import trio

from core.errors import ServiceUnavailable
from core.webhooks import sequencing
from ports.doorbells import Bell

if TYPE_CHECKING:
    from ports.database import Database
    from ports.doorbells import AwaitableDoorbells
    from ports.metrics import Metrics
    from ports.webhooks.feed import FeedWaiters

PERIOD_SECONDS: Final = 1.0
# While another replica hands events on, those of this one may have come too late for it.
BUSY_PAUSE_SECONDS: Final = 0.02
BATCH_EVENTS_MAX: Final = 500

JOB_TYPE: Final = "event_sequencing"

log = structlog.get_logger(__name__)


class EventSequencer:
    """An actor; what it has not handed on waits in the table, so it needs no draining."""

    def __init__(
        self, *, database: Database, doorbells: AwaitableDoorbells, waiters: FeedWaiters, metrics: Metrics
    ) -> None:
        self._database = database
        self._doorbells = doorbells
        self._waiters = waiters
        self._metrics = metrics

    async def run(self) -> None:
        """Hand events on until cancelled."""
        while True:
            began_at = trio.current_time()
            try:
                await self._hand_on_all()
            except ServiceUnavailable as away:
                log.info("job.postponed", job=JOB_TYPE, reason=away.message, retry_seconds=PERIOD_SECONDS)
            self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)
            await self._doorbells.wait(Bell.EVENTS, PERIOD_SECONDS)

    async def _hand_on_all(self) -> None:
        handed_on: int | None = BATCH_EVENTS_MAX
        while handed_on is None or handed_on >= BATCH_EVENTS_MAX:
            handed_on = await self._database.transact(sequencing.hand_on, BATCH_EVENTS_MAX)
            if handed_on is None:
                await trio.sleep(BUSY_PAUSE_SECONDS)
            elif handed_on:
                self._waiters.wake()
