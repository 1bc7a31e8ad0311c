"""The time of a process: the machine's while it is right; ids and tokens take theirs from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from adapters.clock import CheckedClock, SharedTime
from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.transaction import always
from core.lazy_dataclasses import dataclass
from ports.clock import Clock


def now() -> datetime:
    """Return the current time by the machine's clock."""
    return datetime.now(UTC)


def clock_of(shared: SharedTime, worker: int | None) -> Clock:
    """Return the clock of a worker, which continues with the time that the other workers know."""
    return CheckedClock(shared=shared, worker=worker or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """The clock of a process, the machine's own clock, and whether the time is certain enough to delete by it.

    `checked` is the same clock if it has to be compared with the database's.
    """

    clock: Clock
    machine: Clock
    is_settled: Callable[[], bool]
    checked: CheckedClock | None
    randomness: SystemRandomness


def time_of(clock: Clock | None) -> Time:
    """Return the time by a clock, or by the machine's."""
    clock = clock or CheckedClock()
    if isinstance(clock, CheckedClock):
        return Time(
            clock=clock,
            machine=now,
            is_settled=clock.is_settled,
            checked=clock,
            randomness=SystemRandomness(clock.nanoseconds),
        )
    randomness = SystemRandomness(lambda: int(clock().timestamp() * 1e6) * 1_000)
    return Time(clock=clock, machine=clock, is_settled=always, checked=None, randomness=randomness)
