"""The clocks of a machine and of its database, which a test moves apart, and the workers of a server on it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from adapters.clock import CheckedClock, SharedTime

NOON: Final = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR_SECONDS: Final = 3600.0
MOVES: Final = [sign * seconds for seconds in (HOUR_SECONDS, 30 * 86_400, 500 * 86_400) for sign in (1, -1)]


class Machine:
    """The clocks of a machine: `jump` moves the wall clock alone, `run` both, and `correct` is the database's clock."""

    def __init__(self, *, wrong_seconds: float = 0.0, now: datetime = NOON) -> None:
        self._started_at = now - timedelta(hours=3)
        self.since_start = timedelta(hours=3)
        self.error = timedelta(seconds=wrong_seconds)
        self.database_error_seconds = 0.0
        self.clocks = (self._wall_nanoseconds, self._nanoseconds_since_start)
        self.clock = CheckedClock(*self.clocks)

    @property
    def correct(self) -> datetime:
        return self._started_at + self.since_start

    def run(self, seconds: float, *, drift_seconds: float = 0.0) -> None:
        """Let time pass; the wall clock goes faster by the drift."""
        self.since_start += timedelta(seconds=seconds)
        self.error += timedelta(seconds=drift_seconds)

    def jump(self, seconds: float) -> None:
        """Set the wall clock."""
        self.error += timedelta(seconds=seconds)

    def compare(self, *, database_error_seconds: float = 0.0, answer_seconds: float = 0.0) -> float:
        """Compare with the database, whose answer takes a while; return by how much the clock has moved."""
        reading = self.clock.reading()
        database_time = self.correct + timedelta(seconds=database_error_seconds)
        self.run(answer_seconds)
        compared = self.clock.compare(reading, database_time)
        self.database_error_seconds = compared.database_error_seconds
        return compared.moved_seconds

    def off_seconds(self) -> float:
        """Return by how much the clock of the process is ahead of the correct time."""
        return (self.clock() - self.correct).total_seconds()

    def _wall_nanoseconds(self) -> int:
        return (self.correct + self.error - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000

    def _nanoseconds_since_start(self) -> int:
        return self.since_start // timedelta(microseconds=1) * 1_000


class Server:
    """The clocks of a machine and its workers: each knows what the others left, and nothing else."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.shared = SharedTime(2)
        self.replace(0)

    def replace(self, worker: int) -> None:
        """Start a worker, whose clock is the one that is looked at from now on; it has not asked the database yet."""
        wall, since_start = self.machine.clocks
        self.machine.clock = CheckedClock(wall, since_start, shared=self.shared, worker=worker)
