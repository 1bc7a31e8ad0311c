"""Working on the jobs of an installation when a test says, as the actor does."""

from __future__ import annotations

from actors.bulk_worker import JOBS_AT_ONCE_MAX, BulkWorker
from core.platform import bulk_work
from core.platform.bulk_work import LeasedJob
from entrypoints.installation import Installation
from tests.mailboxes import RecordedMailboxes


def worker_of(installation: Installation) -> BulkWorker:
    """Return an actor of an installation that does not run."""
    return BulkWorker(database=installation.database, mailboxes=RecordedMailboxes(), metrics=installation.metrics)


async def lease(installation: Installation) -> list[LeasedJob]:
    """Lease the jobs that are due, as an actor does."""
    return [*await installation.database.transact(bulk_work.lease, JOBS_AT_ONCE_MAX)]


async def work_off(installation: Installation) -> int:
    """Work on jobs until none is due; return how many leases that took."""
    worker, leases = worker_of(installation), 0
    while leased := await lease(installation):
        for job in leased:
            leases += 1
            await worker.serve(job)
    return leases
