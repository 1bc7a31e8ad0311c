"""Keeps the gauges fresh that are not told by what happens but must be asked for: figures and connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from core.errors import ServiceUnavailable
from core.platform import health_figures

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import ConnectionPool, Metrics

# Operations 4.11 names it.
PERIOD_SECONDS = 30.0

log = structlog.get_logger(__name__)


class MetricsRefresher:
    """An actor; it holds nothing, so it needs no draining."""

    def __init__(self, *, database: Database, pool: ConnectionPool, metrics: Metrics) -> None:
        self._database = database
        self._pool = pool
        self._metrics = metrics
        self._is_database_away = False

    async def run(self) -> None:
        """Refresh the gauges every period, for ever."""
        while True:
            self._metrics.pool_measured(self._pool.statistics())
            await self._take_figures()
            await trio.sleep(PERIOD_SECONDS)

    async def _take_figures(self) -> None:
        try:
            self._metrics.figures_refreshed(await self._database.read(health_figures.platform))
        except ServiceUnavailable as away:
            # The gauges keep what they last showed; one line is enough to say why they stand still.
            if not self._is_database_away:
                log.warning("metrics.database_away", reason=away.message, retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
        else:
            self._is_database_away = False
