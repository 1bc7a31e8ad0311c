"""Deletes expired rows periodically, in small batches, so that the tables hold only what is in use.

`core/platform/housekeeping.py` decides what is kept for how long. Every replica has a housekeeper; they share the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from actors.periods import repeat
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from core.privacy import closed_accounts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from ports.database import Database
    from ports.metrics import Metrics

PERIOD_SECONDS = 600.0
# A batch locks its rows and uses a connection for some milliseconds; the pause leaves both to others.
BATCH_ROWS_MAX = 500
PAUSE_SECONDS = 0.1

JOB_TYPE = "housekeeping"

log = structlog.get_logger(__name__)


class Housekeeper:
    """An actor; rows that it has not deleted remain for the next period, so it needs no draining."""

    def __init__(
        self, *, database: Database, metrics: Metrics, kept_for: Mapping[Leftover, timedelta] | None = None
    ) -> None:
        self._database = database
        # What the operator has set; the other kinds are kept as long as each of them says.
        self._kept_for = kept_for or {}
        self._metrics = metrics

    async def run(self) -> None:
        """Sweep every period, until cancelled."""
        await repeat(self._sweep_all, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _sweep_all(self) -> None:
        for leftover in Leftover:
            await self._sweep(leftover)
        await self._forget_closed_accounts()

    async def _forget_closed_accounts(self) -> None:
        """Anonymize the accounts that were closed too long ago to be reopened, each in a transaction of its own."""
        accounts = 0
        while await self._database.transact(closed_accounts.forget_next):
            accounts += 1
            await trio.sleep(PAUSE_SECONDS)
        if accounts:
            log.info("housekeeping.accounts_forgotten", accounts=accounts)

    async def _sweep(self, leftover: Leftover) -> None:
        """Delete all expired rows of one kind."""
        swept = BATCH_ROWS_MAX
        rows = 0
        kept_for = self._kept_for.get(leftover, leftover.kept_for)
        while swept == BATCH_ROWS_MAX:
            if rows:
                await trio.sleep(PAUSE_SECONDS)
            swept = await self._database.transact(housekeeping.sweep, leftover, kept_for, BATCH_ROWS_MAX)
            rows += swept
        if rows:
            log.info("housekeeping.swept", table=leftover.value, rows=rows)
