"""Refreshes the gauges that are measured and not counted by events: platform figures and the connection pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from core.errors import ServiceUnavailable
from core.platform import health_figures

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import ConnectionPool, Metrics

# The period of operations 4.11.
PERIOD_SECONDS = 30.0

log = structlog.get_logger(__name__)


class MetricsRefresher:
    """An actor; it has no unfinished work, so it needs no draining."""

    def __init__(self, *, database: Database, pool: ConnectionPool, metrics: Metrics) -> None:
        self._database = database
        self._pool = pool
        self._metrics = metrics
        self._is_database_away = False

    async def run(self) -> None:
        """Refresh the gauges every period, until cancelled."""
        while True:
            self._metrics.pool_measured(self._pool.statistics())
            await self._take_figures()
            await trio.sleep(PERIOD_SECONDS)

    async def _take_figures(self) -> None:
        try:
            self._metrics.figures_refreshed(await self._database.read(health_figures.platform))
        except ServiceUnavailable as away:
            # The gauges keep their last values; one line in the log is enough.
            if not self._is_database_away:
                log.warning("metrics.database_away", reason=away.message, retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
        else:
            self._is_database_away = False
