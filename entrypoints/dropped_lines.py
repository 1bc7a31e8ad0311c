"""How many lines of the log were dropped, by level: counted by each process of a service, read by all of them.

A line is dropped in the middle of whatever logs it, and by the parent of the workers too, which has no metrics. So it
is counted in memory that forked processes share, where each has a place of its own.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

COUNT_BYTES: Final = 8
# The parent, or a process alone, has the first.
PLACES_MAX: Final = 256


class Level(StrEnum):
    """How much a line of the log matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class DroppedLines:
    """The counts; each process writes in its own place alone."""

    def __init__(self) -> None:
        self._counts = {level: memoryview(mmap.mmap(-1, PLACES_MAX * COUNT_BYTES)).cast("Q") for level in Level}
        self._place = 0

    def take_place_of(self, worker: int) -> None:
        """Count for this worker from now on; a replacement continues the counts of the worker before."""
        # With more workers than places, workers that share one may miss a count.
        self._place = 1 + worker % (PLACES_MAX - 1)

    def add(self, level: Level, lines: int = 1) -> None:
        """Count dropped lines."""
        self._counts[level][self._place] += lines

    def by_level(self) -> Mapping[str, int]:
        """Return the counts of all processes so far."""
        return {level.value: sum(counts) for level, counts in self._counts.items()}
