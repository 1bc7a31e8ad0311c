"""The work of a job on each of its rows, and its progress: leases, refused rows, limits, and its end.

The actor leases a job for some rows and does one after the other, each in a transaction as the maker. A refused row is
recorded with its reason, unless the maker may not do any of it any more, which ends the job. After a crash the lease
ends by itself; a finished row is recorded in its own transaction, so it is never done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Conflict, Unauthorized
from core.invitations import bulk_invitations
from core.lazy_dataclasses import dataclass
from core.organizations import members
from core.organizations.authorization import authorize, authorize_platform
from core.organizations.bulk_jobs import JobKind, JobState
from core.organizations.organizations import OrganizationStatus
from core.platform import organizations
from core.sessions.origins import Origin

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A lease has so many rows, and a job of another organization waits for no more.
ROWS_AT_ONCE: Final = 20
LEASED_FOR: Final = timedelta(seconds=60)
POSTPONED_MAX: Final = timedelta(hours=1)


class LeaseLost(Conflict):
    """The job was stopped, or another process works on it; raising rolls the row back."""

    default_message = "This job was stopped."


class MakerSignedOut(Unauthorized):
    """The session in which a job acts has ended."""

    default_message = "The session in which it was begun has ended."


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRow:
    """A row that waits; `subject_id` is the user or the organization, None for an address."""

    number: int
    label: str
    subject_id: UUID | None
    seen: str

    @property
    def subject(self) -> UUID:
        """The id of the row's user or organization."""
        assert self.subject_id is not None, "a row of this kind has an id"
        return self.subject_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedJob:
    """A job that is leased until `leased_until`, with its next rows; `slug` is its organization's, if it has one."""

    id: UUID
    organization_id: UUID | None
    slug: str
    kind: JobKind
    details: Mapping[str, str]
    session_id: UUID
    origin: Origin
    leased_until: datetime
    rows: Sequence[WaitingRow]


def lease(uow: UnitOfWork, jobs_max: int) -> Sequence[LeasedJob]:
    """Lease jobs with their next rows, at most one of each organization."""
    return uow.bulk_work.lease(now=uow.now, until=uow.now + LEASED_FOR, jobs_max=jobs_max, rows_max=ROWS_AT_ONCE)


def perform(uow: UnitOfWork, job: LeasedJob, row: WaitingRow) -> None:
    """Do a row and record it as done, as the maker of the job; raise `LeaseLost`, or what refuses the row."""
    _WORK[job.kind](uow, job, row)
    # Last, because the organization is locked before its jobs, as where it is deleted with them.
    if not uow.bulk_work.record_done(job, row.number):
        raise LeaseLost


def require_right(uow: UnitOfWork, job: LeasedJob) -> None:
    """Raise the refusal of a maker who may not do this any more, and `MakerSignedOut` when their session is over."""
    try:
        if job.kind.operation is None:
            authorize_platform(uow)
        else:
            authorize(uow, job.slug, job.kind.operation)
    except Unauthorized:
        raise MakerSignedOut from None


def refuse(uow: UnitOfWork, job: LeasedJob, row: WaitingRow, problem: str) -> bool:
    """Record that a row was refused, and why; return whether the job still goes on."""
    return uow.bulk_work.record_refused(job, row.number, problem)


def end(uow: UnitOfWork, job: LeasedJob, problem: str) -> None:
    """End a job whose maker may not do this any more."""
    uow.bulk_jobs.end(job.organization_id, job.id, JobState.ENDED, problem)


def postpone(uow: UnitOfWork, job: LeasedJob, seconds: float) -> None:
    """Go on with a job later, when a limit allows it."""
    uow.bulk_work.release(job, due_at=uow.now + min(timedelta(seconds=seconds), POSTPONED_MAX), is_waiting=True)


def release(uow: UnitOfWork, job: LeasedJob) -> None:
    """End the lease of a job; it is finished when no row waits, else due again, behind the other jobs."""
    uow.bulk_work.release(job, due_at=uow.now, is_waiting=False)


def _change_role(uow: UnitOfWork, job: LeasedJob, row: WaitingRow) -> None:
    members.change_role(uow, job.slug, row.subject, job.details["role"], seen_role=row.seen)


def _remove_member(uow: UnitOfWork, job: LeasedJob, row: WaitingRow) -> None:
    members.remove(uow, job.slug, row.subject, seen_role=row.seen, note=job.details["note"])


def _invite(uow: UnitOfWork, job: LeasedJob, row: WaitingRow) -> None:
    bulk_invitations.invite(uow, job.slug, row.label, job.details, left_out=row.seen)


def _approve(uow: UnitOfWork, _job: LeasedJob, row: WaitingRow) -> None:
    organizations.approve(uow, row.subject, tier_id=None, seen_status=OrganizationStatus.PENDING.value)


def _reject(uow: UnitOfWork, job: LeasedJob, row: WaitingRow) -> None:
    organizations.reject(uow, row.subject, job.details["reason"], seen_status=OrganizationStatus.PENDING.value)


_WORK: Final[Mapping[JobKind, Callable[[UnitOfWork, LeasedJob, WaitingRow], None]]] = {
    JobKind.MEMBERS_CHANGE: _change_role,
    JobKind.MEMBERS_REMOVE: _remove_member,
    JobKind.INVITATIONS_SEND: _invite,
    JobKind.ORGANIZATIONS_APPROVE: _approve,
    JobKind.ORGANIZATIONS_REJECT: _reject,
}
