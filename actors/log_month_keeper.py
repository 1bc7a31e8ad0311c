"""Makes the monthly partitions of logs before they begin, and drops the expired ones.

`core/platform/log_months.py` lists the logs and how long each is kept. The process that polls does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Unpack

import structlog

from actors.periods import PeriodicActor, PeriodicConnections
from core.errors import ServiceUnavailable
from core.platform import log_months
from core.platform.log_months import Log

log = structlog.get_logger(__name__)


class LogMonthKeeper(PeriodicActor):
    """An actor; a month that it has not made or dropped remains for the next period, so it needs no draining."""

    job_type = "log_months"
    period_seconds = 3600.0
    in_turn = True

    def __init__(
        self, *, kept_for: Mapping[Log, timedelta] | None = None, **connections: Unpack[PeriodicConnections]
    ) -> None:
        super().__init__(**connections)
        # What the operator has set; the other logs are kept as long as each of them says.
        self._kept_for = kept_for or {}

    async def work(self) -> None:
        for one in Log:
            try:
                await self._keep(one)
            except ServiceUnavailable as away:
                # A long transaction holds the log: the others need not wait for it.
                log.info("log_months.postponed", log=one.value, reason=away.message)

    async def _keep(self, one: Log) -> None:
        while (month := await self._after_requests(log_months.make_next, one)) is not None:
            log.info("log_months.made", log=one.value, month=f"{month:%Y-%m}")
        kept_for = self._kept_for.get(one, one.kept_for)
        while (partition := await self._after_requests(log_months.drop_next, one, kept_for)) is not None:
            log.info("log_months.dropped", log=one.value, partition=partition)
