"""Counts the audit entries of all organizations beforehand, so that a page knows its total without counting millions.

Which entries are old enough is decided in `core/audit_log.py`. Every replica has a counter; one of them counts at a
time, and nothing goes wrong while none does: a page then counts the more by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from core import audit_log
from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import Metrics

PERIOD_SECONDS = 60.0
# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_ENTRIES_MAX = 5_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "audit_counting"

log = structlog.get_logger(__name__)


class AuditCounter:
    """An actor; what it has not counted yet is still there the next time, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Count every period, for ever."""
        while True:
            began_at = trio.current_time()
            try:
                await self._count()
            except ServiceUnavailable as away:
                log.info("audit_counting.postponed", reason=away.message, retry_seconds=PERIOD_SECONDS)
            self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)
            await trio.sleep(PERIOD_SECONDS)

    async def _count(self) -> None:
        counted = await self._database.transact(audit_log.count_on, BATCH_ENTRIES_MAX)
        while counted == BATCH_ENTRIES_MAX:
            await trio.sleep(PAUSE_SECONDS)
            counted = await self._database.transact(audit_log.count_on, BATCH_ENTRIES_MAX)
