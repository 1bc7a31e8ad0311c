"""Refreshes the gauges that are measured and not counted by events: platform figures and the connection pool.

The process whose turn it is counts the figures, and the others read its result. Other actors send a message when a
figure has changed, so that it is not shown a period later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import structlog

from actors.mailboxes import Mailbox
from core.errors import ServiceUnavailable
from core.platform import health_figures, system
from core.platform.health_figures import Backlog, PlatformFigures
from ports.mailboxes import WorkKind
from ports.metrics import ConnectionPool, Metrics
from ports.metrics_of_work import FolderSpace, ProcessUsage

if TYPE_CHECKING:
    from ports.database import Database

# Together 30 seconds, the documented age of a figure: it may be counted just before a change, and read just before it
# is counted again.
COUNT_SECONDS: Final = 20.0
READ_SECONDS: Final = 10.0
# At the start, until there are figures.
FIRST_SECONDS: Final = 1.0
# However often something changes.
REST_SECONDS: Final = 5.0

log = structlog.get_logger(__name__)


class MetricsRefresher:
    """An actor; it has no unfinished work, so it needs no draining."""

    def __init__(
        self,
        *,
        database: Database,
        pool: ConnectionPool,
        metrics: Metrics,
        usage: Callable[[], Awaitable[ProcessUsage]],
        space: Callable[[], Awaitable[FolderSpace | None]],
    ) -> None:
        self._database = database
        self._pool = pool
        self._metrics = metrics
        self._usage = usage
        self._space = space
        self.box = Mailbox(WorkKind.FIGURES)
        # Whether it is the turn of this process.
        self._counts = False
        self._is_database_away = False
        self._has_figures = False
        # Until it is known.
        self._is_on_cluster = True

    async def run(self) -> None:
        """Refresh the gauges at every message, until cancelled; the first one comes at once."""
        await self.box.receive(0)
        while True:
            self._counts = self.box.is_our_turn
            # Before they are measured, so that what is idle is closed.
            self._pool.shrink()
            self._metrics.pool_measured(self._pool.statistics())
            self._metrics.usage_measured(await self._usage())
            if (space := await self._space()) is not None:
                self._metrics.data_folder_measured(space)
            await self._take_figures()
            rest_seconds = REST_SECONDS if self._has_figures else 0.0
            await self.box.receive(self._period_seconds, rest_seconds=rest_seconds)

    @property
    def _period_seconds(self) -> float:
        if self._has_figures:
            return COUNT_SECONDS if self._counts else READ_SECONDS
        return FIRST_SECONDS

    async def _take_figures(self) -> None:
        try:
            # Of the installation, one process tells. The nodes come first: without one of them, figures are refused.
            if self._counts and self._is_on_cluster:
                nodes = await self._database.read(system.measure)
                if nodes is not None:
                    self._metrics.cluster_measured(nodes)
            backlog = await self._database.read(health_figures.backlog) if self._counts else Backlog()
            figures = await self._figures(backlog)
        except ServiceUnavailable as away:
            # The gauges keep their last values; one line in the log is enough.
            if not self._is_database_away:
                log.warning("metrics.database_away", reason=away.message, retry_seconds=self._period_seconds)
            self._is_database_away = True
            return
        self._is_database_away = False
        self._is_on_cluster = backlog.is_on_cluster or not self._counts
        self._metrics.backlog_measured(backlog)
        if figures is not None:
            self._has_figures = True
            self._metrics.figures_refreshed(figures)

    async def _figures(self, waiting: Backlog) -> PlatformFigures | None:
        if not self._counts:
            return await self._database.read(health_figures.platform)
        figures = await self._database.step(health_figures.count, waiting)
        if figures is None:
            await self._database.transact(health_figures.count_accounts)
            figures = await self._database.step(health_figures.count, waiting)
        return figures
