"""What the workers and their parent share: memory that the parent makes before it forks."""

from __future__ import annotations

from adapters.known_time import SharedTime
from adapters.prometheus_shared import SharedMetrics
from entrypoints.connection_counts import ConnectionCounts
from entrypoints.worker_counts import ReplacedWorkers


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
