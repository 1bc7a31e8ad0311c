"""Works on the jobs of the console: some rows of a job, each in a transaction as its maker, then rows of another job.

The rules are in `core/platform/bulk_work.py`. A crash leaves a lease that ends; finished rows are recorded with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

import structlog

from actors.dispatching import Capacity, Dispatcher
from core.connection_uses import ConnectionUse
from core.errors import BadRequest, Refusal, TemporaryRefusal
from core.mail.limits import AddressLimitReached
from core.platform import bulk_work
from core.platform.bulk_work import LeasedJob, LeaseLost, WaitingRow
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.database import Database
    from ports.unit_of_work import UnitOfWork

JOBS_AT_ONCE_MAX: Final = 2

log = structlog.get_logger(__name__)


class BulkWorker(Dispatcher[LeasedJob]):
    """An actor that drains: it finishes the rows in flight and begins no other ones."""

    job_type = "bulk_job"
    subject = "bulk_job"
    work_kind = WorkKind.BULK_JOBS
    capacity = Capacity(targets_max=JOBS_AT_ONCE_MAX)

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedJob]:
        return bulk_work.lease(uow, free.targets_max)

    def identity(self, target: LeasedJob) -> UUID:
        return target.id

    async def serve(self, target: LeasedJob) -> bool:
        for row in target.rows:
            if self.box.is_draining:
                break
            await self._precedence.turn(self.job_type)
            with self._measured():
                if not await self._goes_on_after(target, row):
                    return True
        await self._recorded(partial(bulk_work.release, job=target))
        return True

    async def _goes_on_after(self, job: LeasedJob, row: WaitingRow) -> bool:
        """Do a row, or record why it was refused; return whether the next one comes, or the job is left as it is."""
        database = self._database_of(job)
        try:
            await database.transact(bulk_work.perform, job, row)
        except LeaseLost:
            return False
        except AddressLimitReached as refusal:
            # A limit of one row, which other organizations can use up as well, holds up none of the others.
            return await self._refuse(job, row, refusal)
        except TemporaryRefusal as refusal:
            await self._recorded(partial(bulk_work.postpone, job=job, seconds=refusal.retry_after_seconds))
            return False
        except Refusal as refusal:
            return await self._refuse(job, row, refusal)
        return True

    def _database_of(self, job: LeasedJob) -> Database:
        """Return the database for the maker of a job, in the share of the organization that the job changes."""
        use = ConnectionUse.background_of(job.organization_id)
        return self._database.on_behalf_of(job.origin, job.session_id, use=use)

    async def _refuse(self, job: LeasedJob, row: WaitingRow, refusal: Refusal) -> bool:
        """Record a refused row; end the job instead when its maker may not do this to any row."""
        database = self._database_of(job)
        try:
            await database.read(bulk_work.require_right, job)
        except TemporaryRefusal:
            return False
        except Refusal as lost:
            await self._recorded(partial(bulk_work.end, job=job, problem=_problem(lost)))
            log.info("bulk_job.ended", job_id=str(job.id), kind=job.kind.value, reason=_problem(lost))
            return False
        return bool(await self._recorded(partial(bulk_work.refuse, job=job, row=row, problem=_problem(refusal))))


def _problem(refusal: Refusal) -> str:
    """Return why a row was refused: of an invalid field its problem."""
    return refusal.details[0].message if isinstance(refusal, BadRequest) and refusal.details else refusal.message
