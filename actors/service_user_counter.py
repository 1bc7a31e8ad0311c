"""Counts the users of all services in advance, so that a page of them is found without counting millions.

The process that polls counts. While none counts, results stay correct: a page then adds more changes itself.
"""

from __future__ import annotations

from typing import Unpack

import trio

from actors.periods import PeriodicActor, PeriodicConnections
from core.service_api import users
from ports.doorbells import AwaitableDoorbells, Bell

# Short, because a page adds up the changes that are not counted yet.
PERIOD_SECONDS = 10.0
# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_CHANGES_MAX = 1_000
PAUSE_SECONDS = 0.1

JOB_TYPE = "service_user_counting"


class ServiceUserCounter(PeriodicActor):
    """An actor; changes that it has not counted remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    def __init__(self, *, doorbells: AwaitableDoorbells, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._doorbells = doorbells

    async def wait(self) -> None:
        waits_since = trio.current_time()
        await self._doorbells.wait(Bell.SERVICE_USERS, self.period_seconds)
        # Not more often, because each pass reads all milestones.
        await trio.sleep_until(waits_since + self.period_seconds)

    async def work(self) -> None:
        await self._in_batches(
            users.count_changes, BATCH_CHANGES_MAX, full=BATCH_CHANGES_MAX, pause_seconds=PAUSE_SECONDS
        )
        await self._database.transact(users.add_milestones)
