"""Storage of bulk jobs, for their pages; `ports/platform/bulk_work.py` is for the actor that works on them."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.bulk_jobs import Job, JobKind, JobRow, JobState, NewJob, RowState, WantedRow
from core.positions import Position


class BulkJobs(Protocol):
    """Jobs and their rows; those of the platform have no organization."""

    def count_unfinished(self, organization_id: UUID | None) -> int:
        """Count the jobs that are not finished, of an organization or of the platform."""
        ...

    def add(self, job: NewJob, rows: Sequence[WantedRow]) -> None:
        """Store a job with its rows, in their order, and wake the actor."""
        ...

    def page(
        self, organization_id: UUID | None, kinds: Sequence[JobKind], *, after: Position | None, limit: int
    ) -> Sequence[Job]:
        """Return jobs of these kinds, newest first."""
        ...

    def count(self, organization_id: UUID | None, kinds: Sequence[JobKind], *, counted_max: int) -> int:
        """Count jobs of these kinds, up to `counted_max`."""
        ...

    def find(self, organization_id: UUID | None, job_id: UUID) -> Job | None:
        """Return a job of this organization, or of the platform; None when there is none."""
        ...

    def rows(
        self, organization_id: UUID | None, job_id: UUID, state: RowState | None, *, after: int, limit: int
    ) -> Sequence[JobRow]:
        """Return the rows after a number, in one state or in any, with the names of present members."""
        ...

    def end(self, organization_id: UUID | None, job_id: UUID, state: JobState, problem: str) -> bool:
        """End an unfinished job; return False when it has ended already."""
        ...
