"""Counts the users of all services in advance, so that a page of them is found without counting millions.

Every replica has a counter, and one of them counts at a time. While none counts, results stay correct: a page then adds
more changes itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from actors.periods import repeat
from core.service_api import users

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import Metrics

# Short, because a page adds up the changes that are not counted yet.
PERIOD_SECONDS = 10.0
# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_CHANGES_MAX = 1_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "service_user_counting"


class ServiceUserCounter:
    """An actor; changes that it has not counted remain for the next period, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Count every period, until cancelled."""
        await repeat(self._count, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _count(self) -> None:
        counted = await self._database.transact(users.count_changes, BATCH_CHANGES_MAX)
        while counted == BATCH_CHANGES_MAX:
            await trio.sleep(PAUSE_SECONDS)
            counted = await self._database.transact(users.count_changes, BATCH_CHANGES_MAX)
        await self._database.transact(users.add_milestones)
