"""Compares the clock of this process with the database's, which decides when the machine's clock has jumped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import structlog

from actors.mailboxes import Mailbox
from core.errors import ServiceUnavailable
from core.platform import health_figures
from ports.clock import WatchedClock
from ports.metrics import Metrics

if TYPE_CHECKING:
    from ports.database import Database

# How often the process looks at its own clocks, which costs nothing, and how many such looks pass until the database is
# asked although they agree.
LOOK_SECONDS: Final = 2.0
AGREEING_LOOKS: Final = 30
FIRST_ATTEMPTS_MAX: Final = 2
# While the machine's clock is wrong, the log says so every five minutes.
LOGGED_LOOKS: Final = 150
ERROR_SECONDS_MAX: Final = 5.0
ADVICE: Final = (
    "This process goes on by the time of the database. Where the clocks have never agreed since its start, it deletes"
    " nothing because of its age. Correct the clock of this machine, by NTP; see ops/runbooks/clock.md."
)

DATABASE_ADVICE: Final = (
    "The clock of the database's machine jumped. This server keeps its time, also in workers that are replaced, but a"
    " server that starts now takes the wrong one. Correct that clock, by NTP; see ops/runbooks/clock.md."
)

log = structlog.get_logger(__name__)


class ClockWatcher:
    """An actor; it has no unfinished work, so it needs no draining."""

    def __init__(self, *, clock: WatchedClock, database: Database, metrics: Metrics) -> None:
        self._clock = clock
        self._database = database
        self._metrics = metrics
        self.box = Mailbox()
        self._is_compared = False
        self._looks = 0
        self._wrong_looks = 0

    async def run(self) -> NoReturn:
        """Look at the clocks, until cancelled."""
        while True:
            await self.box.receive(LOOK_SECONDS)
            self._clock.share()
            self._looks += 1
            is_due = not self._is_compared or self._looks % AGREEING_LOOKS == 0
            if is_due or self._is_wrong() or self._wrong_looks:
                await self.check()

    async def begin(self) -> None:
        """Compare the clocks before the first request, and again if the first connection took too long."""
        for _ in range(FIRST_ATTEMPTS_MAX):
            if not self._is_compared:
                await self.check()

    async def check(self) -> None:
        """Compare the clock with the database's; while the database is away, the last good time continues."""
        reading = self._clock.reading()
        try:
            database_time = await self._database.read(health_figures.database_time)
        except ServiceUnavailable:
            # The log has the reason; it is compared at the next look.
            self._metrics.clock_compared(self._clock.error_seconds())
            return
        compared = self._clock.compare(reading, database_time)
        self._is_compared = True
        self._clock.share()
        self._metrics.clock_compared(max(self._clock.error_seconds(), compared.database_error_seconds, key=abs))
        if abs(compared.moved_seconds) > ERROR_SECONDS_MAX:
            log.warning("clock.moved", seconds=round(compared.moved_seconds, 1), reason="the database's clock decides")
        self._report(compared.database_error_seconds)

    def _report(self, database_error_seconds: float) -> None:
        if self._is_wrong() or database_error_seconds:
            if self._wrong_looks % LOGGED_LOOKS == 0:
                if self._is_wrong():
                    log.error("clock.wrong", seconds=round(self._clock.error_seconds(), 1), advice=ADVICE)
                if database_error_seconds:
                    log.error("clock.database_wrong", seconds=round(database_error_seconds, 1), advice=DATABASE_ADVICE)
            self._wrong_looks += 1
        elif self._wrong_looks:
            log.warning("clock.right_again")
            self._wrong_looks = 0

    def _is_wrong(self) -> bool:
        return abs(self._clock.error_seconds()) > ERROR_SECONDS_MAX
