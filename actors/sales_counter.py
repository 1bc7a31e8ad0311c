"""Adds the changes of subscriptions up by day, a batch at a time; see `core/services/sales.py`."""

from __future__ import annotations

from typing import Unpack

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.services import sales
from ports.mailboxes import WorkKind

# A page adds what is not added up yet, so it may wait for a while.
PERIOD_SECONDS = 60.0
# Each change takes some 40 blocks; the pause leaves the connection to others.
BATCH_CHANGES_MAX = 100
PAUSE_SECONDS = 0.01

JOB_TYPE = "sales_counting"


class SalesCounter(PeriodicActor):
    """An actor; changes that it has not added up remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS
    in_turn = True
    work_kind = WorkKind.SALES

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._batch = BatchSize(BATCH_CHANGES_MAX)

    async def work(self) -> None:
        if await self._after_requests(sales.has_new, is_one_statement=True):
            await self._in_short_batches(self._batch, sales.add_up, pause_seconds=PAUSE_SECONDS)
