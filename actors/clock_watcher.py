"""Compares the clock of this process with the database's, which decides when the machine's clock has jumped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import structlog
import trio

from core.errors import ServiceUnavailable
from core.platform import health_figures

if TYPE_CHECKING:
    from ports.clock import WatchedClock
    from ports.database import Database
    from ports.metrics import Metrics

# How often the process looks at its own clocks, which costs nothing, and how many such looks pass until the database is
# asked although they agree.
LOOK_SECONDS: Final = 2.0
AGREEING_LOOKS: Final = 30
# While the machine's clock is wrong, the log says so every five minutes.
LOGGED_LOOKS: Final = 150
ERROR_SECONDS_MAX: Final = 5.0
ADVICE: Final = (
    "This process goes on by the time of the database. Correct the clock of this machine, by NTP; see"
    " ops/runbooks/clock.md."
)

log = structlog.get_logger(__name__)


class ClockWatcher:
    """An actor; it has no unfinished work, so it needs no draining."""

    def __init__(self, *, clock: WatchedClock, database: Database, metrics: Metrics) -> None:
        self._clock = clock
        self._database = database
        self._metrics = metrics
        self._looks = 0
        self._wrong_looks = 0

    async def run(self) -> NoReturn:
        """Look at the clocks, until cancelled."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            self._looks += 1
            if self._is_wrong() or self._wrong_looks or self._looks % AGREEING_LOOKS == 0:
                await self.check()

    async def check(self) -> None:
        """Compare the clock with the database's; while that is away, the last good time goes on."""
        reading = self._clock.reading()
        try:
            database_time = await self._database.read(health_figures.database_time)
        except ServiceUnavailable:
            # The log has the reason; it is compared at the next look.
            self._metrics.clock_compared(self._clock.error_seconds())
            return
        moved_seconds = self._clock.compare(reading, database_time)
        self._metrics.clock_compared(self._clock.error_seconds())
        if abs(moved_seconds) > ERROR_SECONDS_MAX:
            log.warning("clock.moved", seconds=round(moved_seconds, 1), reason="the database's clock decides")
        self._report()

    def _report(self) -> None:
        if self._is_wrong():
            if self._wrong_looks % LOGGED_LOOKS == 0:
                log.error("clock.wrong", seconds=round(self._clock.error_seconds(), 1), advice=ADVICE)
            self._wrong_looks += 1
        elif self._wrong_looks:
            log.warning("clock.right_again")
            self._wrong_looks = 0

    def _is_wrong(self) -> bool:
        return abs(self._clock.error_seconds()) > ERROR_SECONDS_MAX
