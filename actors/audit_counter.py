"""Counts the audit entries of all organizations in advance, so that a page gets its total without counting millions.

`core/audit/audit_log.py` decides which entries are old enough. The process that polls counts. While none counts,
results stay correct: a page then counts more entries itself.
"""

from __future__ import annotations

from typing import Unpack

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import audit_log

PERIOD_SECONDS = 60.0
# Each entry takes some 17 blocks; the pause leaves the connection to others.
BATCH_ENTRIES_MAX = 200
PAUSE_SECONDS = 0.01

JOB_TYPE = "audit_counting"


class AuditCounter(PeriodicActor):
    """An actor; entries that it has not counted remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS
    in_turn = True

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._batch = BatchSize(BATCH_ENTRIES_MAX)

    async def work(self) -> None:
        await self._in_short_batches(self._batch, audit_log.count_next, pause_seconds=PAUSE_SECONDS)
