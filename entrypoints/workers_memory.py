"""What the workers and their parent share: memory that the parent makes before it forks.

It counts how many workers were replaced, and why: the parent writes that, and each of them reads it for the metrics.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from adapters.clock import SharedTime
from adapters.prometheus_shared import SharedMetrics
from entrypoints.connection_counts import ConnectionCounts

COUNT_BYTES: Final = 8


class ReplacementReason(StrEnum):
    """Why a worker was replaced: it has ended, or it was silent and was ended."""

    DIED = "died"
    HUNG = "hung"


class ReplacedWorkers:
    """The counts, in memory that forked processes share; only the parent writes."""

    def __init__(self) -> None:
        self._counts = {reason: mmap.mmap(-1, COUNT_BYTES) for reason in ReplacementReason}

    def add(self, reason: ReplacementReason) -> None:
        """Count a replacement."""
        self._counts[reason][:] = (self.by_reason()[reason] + 1).to_bytes(COUNT_BYTES)

    def by_reason(self) -> Mapping[str, int]:
        """Return the counts so far."""
        return {reason.value: int.from_bytes(count[:]) for reason, count in self._counts.items()}


class WorkersMemory:
    """How many were replaced, where all of them count, and the time they know."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # One number more, for the next worker of a reload.
        numbers = workers + 1
        self.replaced = ReplacedWorkers()
        self.metrics = SharedMetrics(numbers)
        self.time = SharedTime(numbers)
        self.connections = ConnectionCounts(numbers)

    def forget(self, number: int) -> None:
        """Forget what was of a worker that has ended; its counts stay."""
        self.metrics.leave(number)
        self.connections.forget(number)
