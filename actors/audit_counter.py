"""Counts the audit entries of all organizations in advance, so that a page gets its total without counting millions.

`core/audit/audit_log.py` decides which entries are old enough. Every replica has a counter, and one of them counts at
a time. While none counts, results stay correct: a page then counts more entries itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from actors.periods import repeat
from core.audit import audit_log

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import Metrics

PERIOD_SECONDS = 60.0
# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_ENTRIES_MAX = 5_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "audit_counting"


class AuditCounter:
    """An actor; entries that it has not counted remain for the next period, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Count every period, until cancelled."""
        await repeat(self._count, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _count(self) -> None:
        counted = await self._database.transact(audit_log.count_next, BATCH_ENTRIES_MAX)
        while counted == BATCH_ENTRIES_MAX:
            await trio.sleep(PAUSE_SECONDS)
            counted = await self._database.transact(audit_log.count_next, BATCH_ENTRIES_MAX)
