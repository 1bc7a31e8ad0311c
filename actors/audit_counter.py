"""Counts the audit entries of all organizations in advance, so that a page gets its total without counting millions.

`core/audit/audit_log.py` decides which entries are old enough. The process that polls counts. While none counts,
results stay correct: a page then counts more entries itself.
"""

from __future__ import annotations

from actors.periods import PeriodicActor
from core.audit import audit_log

# Each entry takes some 17 blocks; the pause leaves the connection to others.
BATCH_ENTRIES_MAX = 200
PAUSE_SECONDS = 0.01


class AuditCounter(PeriodicActor):
    """An actor; entries that it has not counted remain for the next period, so it needs no draining."""

    job_type = "audit_counting"
    period_seconds = 60.0
    in_turn = True

    async def work(self) -> None:
        await self._in_short_batches(audit_log.count_next, rows_max=BATCH_ENTRIES_MAX, pause_seconds=PAUSE_SECONDS)
