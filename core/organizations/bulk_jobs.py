"""Jobs: what a member does with more rows than one form takes; an actor does it in the background, row by row.

A job acts in the session of its maker, so the maker's rights at that moment decide about each row. Each row is a
transaction of its own: done and recorded together, or refused with a reason. A job ends when its rows are done, when a
person stops it, when the session of its maker ends, and when the maker may not do this any more.

What each kind does to a row is in `core/platform/bulk_work.py`; jobs of the platform belong to no organization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock, authorize_platform
from core.positions import FoundRows, Listing, Position, listing
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ROWS_MAX: Final = 10_000
# Unfinished jobs of an organization, or of the platform.
UNFINISHED_MAX: Final = 5


class JobUnknown(NotFound):
    """The organization has no such job, or it is one that the caller may not see."""

    default_message = "There is no such job. It may have been deleted: jobs are kept for 30 days."


class TooManyJobs(Conflict):
    """The organization has as many unfinished jobs as it may have."""

    default_message = "Five jobs are not finished yet. Wait until one is, or stop one, and begin this one again."


class ListChanged(Conflict):
    """The number of matches has changed since the page was shown."""

    default_message = "The number of matches has changed since this page was shown. Check it, and confirm again."


class JobOver(Conflict):
    """The job has ended already."""

    default_message = "This job has ended already."


class JobKind(StrEnum):
    """What a job does to each of its rows; `operation` is what it requires, None for jobs of platform owners."""

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
    """The state of a job; every state but the first is final."""

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
    """A row to work on: its text on the page, its id if it has one, and the state that the page had shown."""

    label: str
    subject_id: UUID | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job that begins; `details` hold for each row."""

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
        """The number of rows that still wait."""
        return self.rows - self.done - self.refused

    @property
    def is_running(self) -> bool:
        """Whether the job goes on."""
        return self.state is JobState.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A row of a job; `number` is its place, from 1, and `name` the name of a present member, None otherwise."""

    number: int
    label: str
    name: str | None
    state: RowState
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJob:
    """A job and a part of its rows; the list goes on after the number `next`, None at its end."""

    job: Job
    listed: Sequence[JobRow]
    next: int | None


def begin(
    uow: UnitOfWork, slug: str | None, kind: JobKind, rows: Sequence[WantedRow], details: Mapping[str, str]
) -> UUID:
    """Begin a job of an organization, or of the platform (None), and return its id.

    Raise `BadRequest` and `TooManyJobs`.
    """
    organization_id = None
    if slug is None:
        authorize_platform(uow)
    else:
        assert kind.operation is not None, "a job of an organization takes a right there"
        organization_id = authorize_and_lock(uow, slug, kind.operation).organization.id
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


def found(uow: UnitOfWork, slug: str | None) -> Listing[Job]:
    """List the jobs of an organization, or of the platform (None), that the caller could have begun, newest first."""
    return listing(uow.elsewhere.bulk_jobs.page, uow.elsewhere.bulk_jobs.count, *_begun_by_caller(uow, slug))


def of_platform(uow: UnitOfWork, *, after: Position | None, limit: int) -> FoundRows[Job]:
    """List the jobs of the platform, newest first."""
    return found(uow, None).first(after=after, limit=limit)


def show(
    uow: UnitOfWork, slug: str | None, job_id: UUID, *, state: RowState | None, after: int, limit: int
) -> ShownJob:
    """Return a job of an organization or of the platform (None) and its rows after a number; raise `JobUnknown`."""
    job = _found(uow, slug, job_id)
    rows = uow.bulk_jobs.rows(job.organization_id, job.id, state, after=after, limit=limit + 1)
    return ShownJob(job=job, listed=rows[:limit], next=rows[limit - 1].number if len(rows) > limit else None)


def stop(uow: UnitOfWork, slug: str | None, job_id: UUID) -> None:
    """Stop a job of an organization or of the platform (None); what is done stays done.

    Raise `JobUnknown` and `JobOver`.
    """
    job = _found(uow, slug, job_id)
    if not uow.bulk_jobs.end(job.organization_id, job.id, JobState.STOPPED, ""):
        raise JobOver


def too_many_rows() -> BadRequest:
    """Return the refusal of more rows than a job has."""
    return BadRequest.of_field("rows", Wording("A job has at most %(maximum)s rows.", maximum=ROWS_MAX))


def _begun_by_caller(uow: UnitOfWork, slug: str | None) -> tuple[UUID | None, Sequence[JobKind]]:
    """Return the organization, None for the platform, and the kinds of jobs that the caller may begin there."""
    if slug is None:
        authorize_platform(uow)
        return None, [kind for kind in JobKind if kind.operation is None]
    authorized = authorize(uow, slug, Operation.JOBS_READ)
    role, capabilities = authorized.membership.role, authorized.capabilities
    kinds = [kind for kind in JobKind if kind.operation and kind.operation.missing(role, capabilities) is None]
    return authorized.organization.id, kinds


def _found(uow: UnitOfWork, slug: str | None, job_id: UUID) -> Job:
    organization_id, kinds = _begun_by_caller(uow, slug)
    job = uow.bulk_jobs.find(organization_id, job_id)
    if job is None or job.kind not in kinds:
        raise JobUnknown
    return job
