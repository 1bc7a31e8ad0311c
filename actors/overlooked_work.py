"""Looks for what waits in the logs without being marked or due beside them; see `core/platform/overlooked.py`."""

from __future__ import annotations

from typing import Unpack

import structlog

from actors.periods import PeriodicActor, PeriodicConnections
from core.platform import overlooked

log = structlog.get_logger(__name__)


class OverlookedWorkFinder(PeriodicActor):
    """An actor; one process does it for all."""

    job_type = "overlooked_work"
    period_seconds = 10.0
    in_turn = True

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._turn = overlooked.FIRST_TURN

    async def work(self) -> None:
        # A read outside of a transaction: normally nothing is found.
        found = await self._after_requests(overlooked.find, self._turn, is_one_statement=True)
        self._turn = overlooked.next_turn(found)
        if found and (number := await self._after_requests(overlooked.put_right, found)):
            log.info("overlooked_work.found", number=number)
