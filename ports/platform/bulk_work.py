"""Storage of bulk jobs, for the actor that works on them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.platform.bulk_work import LeasedJob


class BulkWork(Protocol):
    """Unfinished jobs, and the outcomes of their rows."""

    def lease(self, *, now: datetime, until: datetime, jobs_max: int, rows_max: int) -> Sequence[LeasedJob]:
        """Lease jobs that are due, at most one of each organization, each with its next rows."""
        ...

    def record_done(self, job: LeasedJob, number: int) -> bool:
        """Record a row as done; return False when it no longer waits, or the lease of the job is over."""
        ...

    def record_refused(self, job: LeasedJob, number: int, problem: str) -> bool:
        """Record a row as refused; return False as `record_done` does."""
        ...

    def release(self, job: LeasedJob, *, due_at: datetime, is_waiting: bool) -> None:
        """End a lease: the job is finished when no row waits, else due at that time."""
        ...
