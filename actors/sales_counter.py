"""Adds the changes of subscriptions up by day, a batch at a time; see `core/services/sales.py`."""

from __future__ import annotations

from actors.periods import PeriodicActor
from core.services import sales

# A page adds what is not added up yet, so it may wait for a while.
PERIOD_SECONDS = 60.0
BATCH_CHANGES_MAX = 1_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "sales_counting"


class SalesCounter(PeriodicActor):
    """An actor; changes that it has not added up remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    async def work(self) -> None:
        await self._in_batches(sales.add_up, BATCH_CHANGES_MAX, full=BATCH_CHANGES_MAX, pause_seconds=PAUSE_SECONDS)
