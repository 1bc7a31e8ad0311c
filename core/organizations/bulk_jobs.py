"""Jobs: what a member does with more rows than one form takes, done by an actor in the background, row by row.

A job acts in the session of its maker, so each row is decided by the rights that the maker has at that moment, and is a
transaction of its own: done and recorded together, or refused with a reason. A job ends when its rows are done, when it
is stopped, when the session of its maker ends, and when the maker may not do this any more.

What each kind does to a row is in `core/platform/bulk_work.py`; jobs of the platform belong to no organization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations import access
from core.organizations.access import Operation, authorize_platform
from core.positions import FoundRows, Position, found_rows
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ROWS_MAX: Final = 10_000
# Unfinished ones of an organization, and of the platform.
UNFINISHED_MAX: Final = 5


class JobUnknown(NotFound):
    """The organization has no such job, or it is one that the caller may not see."""

    default_message = "There is no such job. It may have been deleted: jobs are kept for 30 days."


class TooManyJobs(Conflict):
    """The organization has as many unfinished jobs as it may have."""

    default_message = "Five jobs are not finished yet. Wait until one is, or stop one, and begin this one again."


class ListChanged(Conflict):
    """The search finds another number of rows than the page had shown."""

    default_message = "Meanwhile the search finds another number than this page had shown. Check it, and confirm again."


class JobOver(Conflict):
    """The job has ended already."""

    default_message = "This job has ended already."


class JobKind(StrEnum):
    """What a job does to each of its rows; `operation` is what it takes, None for what platform owners do."""

    MEMBERS_CHANGE = ("members.change", Operation.MEMBER_CHANGE)
    MEMBERS_REMOVE = ("members.remove", Operation.MEMBER_REMOVE)
    INVITATIONS_SEND = ("invitations.send", Operation.INVITATIONS_CHANGE)
    ORGANIZATIONS_APPROVE = ("organizations.approve", None)
    ORGANIZATIONS_REJECT = ("organizations.reject", None)

    operation: Operation | None

    def __new__(cls, value: str, operation: Operation | None) -> JobKind:
        member = str.__new__(cls, value)
        member._value_ = value
        member.operation = operation
        return member


class JobState(StrEnum):
    """How far a job is; every state but the first is final."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    # The maker may not do this any more.
    ENDED = "ended"


class RowState(StrEnum):
    """What became of a row."""

    WAITING = "waiting"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRow:
    """A row to work on: what is shown of it, its id if it has one, and what the page had shown of its state."""

    label: str
    subject_id: UUID | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job that begins; `details` are the same for each row."""

    id: UUID
    organization_id: UUID | None
    kind: JobKind
    details: Mapping[str, str]
    maker_id: UUID
    session_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as its page shows it; `waits_until` is set while it waits for a limit."""

    id: UUID
    organization_id: UUID | None
    kind: JobKind
    details: Mapping[str, str]
    maker_email: str
    state: JobState
    problem: str
    rows: int
    done: int
    refused: int
    created_at: datetime
    finished_at: datetime | None
    waits_until: datetime | None

    @property
    def position(self) -> Position:
        """The place of the job in the list."""
        return Position(at=self.created_at, id=self.id)

    @property
    def waiting(self) -> int:
        """How many rows nothing was done with."""
        return self.rows - self.done - self.refused

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.state is JobState.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A row of a job; `number` is its place, from 1, and `name` that of a person who is a member now, None else."""

    number: int
    label: str
    name: str | None
    state: RowState
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJob:
    """A job, and a part of its rows; `next` is the number after which they go on, None at their end."""

    job: Job
    listed: Sequence[JobRow]
    next: int | None


def begin(uow: UnitOfWork, slug: str, kind: JobKind, rows: Sequence[WantedRow], details: Mapping[str, str]) -> UUID:
    """Begin a job of an organization and return its id; raise `BadRequest` and `TooManyJobs`."""
    assert kind.operation is not None, "a job of an organization takes a right there"
    authorized = access.authorize_and_lock(uow, slug, kind.operation)
    return _begin(uow, authorized.organization.id, kind, rows, details)


def begin_for_platform(uow: UnitOfWork, kind: JobKind, rows: Sequence[WantedRow], details: Mapping[str, str]) -> UUID:
    """Begin a job of the platform and return its id; raise `BadRequest` and `TooManyJobs`."""
    authorize_platform(uow)
    return _begin(uow, None, kind, rows, details)


def search(uow: UnitOfWork, slug: str, *, after: Position | None, limit: int) -> FoundRows[Job]:
    """List the jobs that the caller could have begun, newest first."""
    authorized = access.authorize(uow, slug, Operation.JOBS_READ)
    kinds = [kind for kind in JobKind if kind.operation is not None and _allows(authorized, kind.operation)]
    return _found(uow, authorized.organization.id, kinds, after, limit)


def search_for_platform(uow: UnitOfWork, *, after: Position | None, limit: int) -> FoundRows[Job]:
    """List the jobs of the platform, newest first."""
    authorize_platform(uow)
    return _found(uow, None, [kind for kind in JobKind if kind.operation is None], after, limit)


def show(uow: UnitOfWork, slug: str, job_id: UUID, *, state: RowState | None, after: int, limit: int) -> ShownJob:
    """Return a job of an organization and its rows after a number; raise `JobUnknown`."""
    return _with_rows(uow, _of_organization(uow, slug, job_id), state, after, limit)


def show_for_platform(uow: UnitOfWork, job_id: UUID, *, state: RowState | None, after: int, limit: int) -> ShownJob:
    """Return a job of the platform and its rows after a number; raise `JobUnknown`."""
    return _with_rows(uow, _of_platform(uow, job_id), state, after, limit)


def stop(uow: UnitOfWork, slug: str, job_id: UUID) -> None:
    """Stop a job of an organization; what is done stays done. Raise `JobUnknown` and `JobOver`."""
    _stop(uow, _of_organization(uow, slug, job_id))


def stop_for_platform(uow: UnitOfWork, job_id: UUID) -> None:
    """Stop a job of the platform; what is done stays done. Raise `JobUnknown` and `JobOver`."""
    _stop(uow, _of_platform(uow, job_id))


def too_many_rows() -> BadRequest:
    """Return the refusal of more rows than a job has."""
    return BadRequest.of_field("rows", Wording("A job has at most %(maximum)s rows.", maximum=ROWS_MAX))


def _begin(
    uow: UnitOfWork,
    organization_id: UUID | None,
    kind: JobKind,
    rows: Sequence[WantedRow],
    details: Mapping[str, str],
) -> UUID:
    if not rows:
        raise BadRequest.of_field("rows", "Nothing is chosen.")
    if len(rows) > ROWS_MAX:
        raise too_many_rows()
    # A job of the platform has nothing to lock; a sixth job that begins at the same moment does no harm.
    if uow.bulk_jobs.count_unfinished(organization_id) >= UNFINISHED_MAX:
        raise TooManyJobs
    job = NewJob(
        id=uow.randomness.new_id(),
        organization_id=organization_id,
        kind=kind,
        details=details,
        maker_id=uow.caller.account.id,
        session_id=uow.caller.session.id,
    )
    uow.bulk_jobs.add(job, rows)
    return job.id


def _found(
    uow: UnitOfWork, organization_id: UUID | None, kinds: Sequence[JobKind], after: Position | None, limit: int
) -> FoundRows[Job]:
    found = uow.elsewhere.bulk_jobs.page(organization_id, kinds, after=after, limit=limit + 1)
    return found_rows(
        found, after=after, limit=limit, count=partial(uow.elsewhere.bulk_jobs.count, organization_id, kinds)
    )


def _of_organization(uow: UnitOfWork, slug: str, job_id: UUID) -> Job:
    authorized = access.authorize(uow, slug, Operation.JOBS_READ)
    job = uow.bulk_jobs.find(authorized.organization.id, job_id)
    if job is None or job.kind.operation is None or not _allows(authorized, job.kind.operation):
        raise JobUnknown
    return job


def _of_platform(uow: UnitOfWork, job_id: UUID) -> Job:
    authorize_platform(uow)
    job = uow.bulk_jobs.find(None, job_id)
    if job is None:
        raise JobUnknown
    return job


def _allows(authorized: access.OrganizationAccess, operation: Operation) -> bool:
    return operation.missing(authorized.membership.role, authorized.capabilities) is None


def _with_rows(uow: UnitOfWork, job: Job, state: RowState | None, after: int, limit: int) -> ShownJob:
    rows = uow.bulk_jobs.rows(job.organization_id, job.id, state, after=after, limit=limit + 1)
    return ShownJob(job=job, listed=rows[:limit], next=rows[limit - 1].number if len(rows) > limit else None)


def _stop(uow: UnitOfWork, job: Job) -> None:
    if not uow.bulk_jobs.end(job.organization_id, job.id, JobState.STOPPED, ""):
        raise JobOver
