"""Counts the audit entries of all organizations in advance, so that a page gets its total without counting millions.

`core/audit/audit_log.py` decides which entries are old enough. The process that polls counts. While none counts,
results stay correct: a page then counts more entries itself.
"""

from __future__ import annotations

from actors.periods import PeriodicActor
from core.audit import audit_log

PERIOD_SECONDS = 60.0
# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_ENTRIES_MAX = 5_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "audit_counting"


class AuditCounter(PeriodicActor):
    """An actor; entries that it has not counted remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    async def work(self) -> None:
        await self._in_batches(
            audit_log.count_next, BATCH_ENTRIES_MAX, full=BATCH_ENTRIES_MAX, pause_seconds=PAUSE_SECONDS
        )
