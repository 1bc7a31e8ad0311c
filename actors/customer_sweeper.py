"""Ends sessions for customers that their users may no longer have, and publishes events about people to vendors.

Access itself ends with the row that changes: every request checks it. What follows here are the rows of the sessions,
whose end queues logout tokens for the services, and the events. The process that polls does it for all.
"""

from __future__ import annotations

from typing import Unpack
from uuid import UUID

import trio

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.customers import people_events
from core.sessions import customer_endings
from ports.mailboxes import WorkKind

PAUSE_SECONDS = 0.05


class CustomerSweeper(PeriodicActor):
    """An actor; unprocessed changes remain for the next period, so it needs no draining."""

    job_type = "customer_sessions"
    # Within a minute, also when several changes wait for each other.
    period_seconds = 10.0
    in_turn = True
    work_kind = WorkKind.CUSTOMER_SESSIONS

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._batch = BatchSize(people_events.BATCH_PEOPLE_MAX)
        # The organization that had its turn last, when others wait.
        self._last_turn: UUID | None = None

    async def work(self) -> None:
        await self._in_batches(
            customer_endings.recheck, customer_endings.BATCH_SESSIONS_MAX, full=1, pause_seconds=PAUSE_SECONDS
        )
        await self._tell()

    async def _tell(self) -> None:
        while True:
            published = await self._in_size(self._batch, people_events.publish_batch, self._batch.rows, self._last_turn)
            self._last_turn = published.last_turn
            if not published.has_more:
                return
            await trio.sleep(PAUSE_SECONDS)
