"""Looks for audit entries that wait to be sealed in organizations without a mark; see `core/audit/chain.py`."""

from __future__ import annotations

from typing import Final, Unpack

import structlog

from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import chain
from core.ids import FIRST_ID

PERIOD_SECONDS: Final = 10.0

JOB_TYPE: Final = "overlooked_entries"

log = structlog.get_logger(__name__)


class OverlookedEntriesFinder(PeriodicActor):
    """An actor; one process does it for all."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._after = FIRST_ID

    async def work(self) -> None:
        # A read outside of a transaction: normally nothing is found.
        found = await self._after_requests(chain.overlooked, self._after, is_one_statement=True)
        self._after = found[-1] if len(found) == chain.OVERLOOKED_MAX else FIRST_ID
        if found:
            marked = await self._after_requests(chain.mark_overlooked, list(dict.fromkeys(found)))
            if marked:
                log.info("overlooked_entries.found", organizations=marked)
