"""Starts the embedded PostgreSQL again when it has died, and gives up when that keeps failing.

Only `gatehouse serve` has a keeper; commands are too short for one. A process of PostgreSQL that crashes is no death:
PostgreSQL then ends the others and recovers by itself.
"""

from __future__ import annotations

import mmap
import time

import structlog

from adapters.postgres.embedded.folder import DataFolderError
from adapters.postgres.embedded.programs import EmbeddedPostgresError
from adapters.postgres.embedded.server import EmbeddedPostgres

# Looking costs as much as reading two small files.
PERIOD_SECONDS = 0.5
# After a start, successful or not, the next one waits; each time twice as long.
PAUSE_SECONDS_MIN = 0.5
STARTS_MAX = 5
# A PostgreSQL that ran for this long died of a new cause, so the starts are counted anew.
HEALTHY_SECONDS_MIN = 120.0
COUNT_BYTES = 8

log = structlog.get_logger(__name__)


class Keeper:
    """Keeps the PostgreSQL of a data folder running; forked processes see the count of restarts."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        # Anonymous memory that forked processes share.
        self._count = mmap.mmap(-1, COUNT_BYTES)
        self._starts = 0
        self._runs_since: float | None = time.monotonic()
        self._next_at = 0.0

    @property
    def restarts(self) -> int:
        """How often PostgreSQL was started again."""
        return int.from_bytes(self._count[:])

    def attend(self) -> None:
        """Start PostgreSQL again if it has died and the pause is over; to be called at least every `PERIOD_SECONDS`.

        It blocks while PostgreSQL starts. Raise `EmbeddedPostgresError` when it died or did not start too often.
        """
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + PERIOD_SECONDS
        try:
            has_died = self._postgres.has_died()
        except OSError as error:
            # For instance, too many files are open at this moment. That says nothing about PostgreSQL.
            log.warning("database.embedded_not_checked", reason=str(error.strerror))
            return
        if has_died:
            if self._runs_since is not None:
                self._record_death(ran_seconds=now - self._runs_since)
            self._start()
        elif self._runs_since is None:
            # Another process has started it.
            self._runs_since = now

    def _record_death(self, *, ran_seconds: float) -> None:
        self._runs_since = None
        if ran_seconds >= HEALTHY_SECONDS_MIN:
            self._starts = 0
        log.error(
            "database.embedded_died",
            ran_seconds=round(ran_seconds, 1),
            advice=f"It is started again. If it dies repeatedly, look for the cause in {self._postgres.log}, and in the"
            " log of the system, which names processes that were killed for lack of memory.",
        )
        if self._starts == STARTS_MAX:
            raise self._lost(f"It died again soon after each of {STARTS_MAX} starts.")

    def _start(self) -> None:
        self._starts += 1
        began_at = time.monotonic()
        failure = self._failure_of_start()
        ended_at = time.monotonic()
        self._next_at = ended_at + PAUSE_SECONDS_MIN * 2 ** (self._starts - 1)
        if failure is None:
            self._runs_since = ended_at
            self._count[:] = (self.restarts + 1).to_bytes(COUNT_BYTES)
            seconds = round(ended_at - began_at, 1)
            log.warning("database.embedded_started_again", restarts=self.restarts, seconds=seconds)
            return
        log.error("database.embedded_not_started", attempt=self._starts, of=STARTS_MAX, reason=str(failure))
        if self._starts == STARTS_MAX:
            raise self._lost(f"None of {STARTS_MAX} attempts to start it again succeeded. {failure}")

    def _failure_of_start(self) -> DataFolderError | None:
        try:
            self._postgres.start_again()
        except DataFolderError as failure:
            return failure
        return None

    def _lost(self, what: str) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(
            f"The embedded PostgreSQL died and does not run any more. {what}\n"
            f"Correct the cause that {self._postgres.log} names (a full disk, missing memory, damaged files, for which"
            " there is the backup), and start Gatehouse again."
        )
