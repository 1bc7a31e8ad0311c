"""Adds the changes of subscriptions up by day, a batch at a time; see `core/services/sales.py`."""

from __future__ import annotations

from actors.periods import PeriodicActor
from core.services import sales
from ports.mailboxes import WorkKind

# Each change takes some 40 blocks; the pause leaves the connection to others.
BATCH_CHANGES_MAX = 100
PAUSE_SECONDS = 0.01


class SalesCounter(PeriodicActor):
    """An actor; changes that it has not added up remain for the next period, so it needs no draining."""

    job_type = "sales_counting"
    # A page adds what is not added up yet, so it may wait for a while.
    period_seconds = 60.0
    in_turn = True
    work_kind = WorkKind.SALES

    async def work(self) -> None:
        if await self._after_requests(sales.has_new, is_one_statement=True):
            await self._in_short_batches(sales.add_up, rows_max=BATCH_CHANGES_MAX, pause_seconds=PAUSE_SECONDS)
