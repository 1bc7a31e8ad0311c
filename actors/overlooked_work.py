"""Looks for events and deliveries that wait without being marked or due; see `core/webhooks/overlooked.py`."""

from __future__ import annotations

from typing import Final, Unpack

import structlog

from actors.periods import PeriodicActor, PeriodicConnections
from core.webhooks import overlooked
from core.webhooks.overlooked import Turn

PERIOD_SECONDS: Final = 10.0

JOB_TYPE: Final = "overlooked_work"

log = structlog.get_logger(__name__)


class OverlookedWorkFinder(PeriodicActor):
    """An actor; one process does it for all."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._turn = Turn()

    async def work(self) -> None:
        # A read outside of a transaction, in one round trip: normally nothing is found.
        found = await self._after_requests(overlooked.find, self._turn, is_one_statement=True)
        self._turn = found.next_turn
        if found.organization_ids or found.webhooks:
            number = await self._after_requests(overlooked.put_right, found)
            if number:
                log.info("overlooked_work.found", number=number)
