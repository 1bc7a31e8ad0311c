"""Counts the users of all services in advance, so that a page of them is found without counting millions.

The process that polls counts. While none counts, results stay correct: a page then adds more changes itself.
"""

from __future__ import annotations

from actors.periods import PeriodicActor
from core.service_api import users
from ports.mailboxes import WorkKind

# A batch takes some 50 ms; the pause leaves the connection to others.
BATCH_CHANGES_MAX = 1_000
PAUSE_SECONDS = 0.1


class ServiceUserCounter(PeriodicActor):
    """An actor; changes that it has not counted remain for the next period, so it needs no draining."""

    job_type = "service_user_counting"
    # Short, because a page adds up the changes that are not counted yet.
    period_seconds = 10.0
    # Not more often, because each pass reads all milestones.
    rest_seconds = period_seconds
    in_turn = True
    work_kind = WorkKind.SERVICE_USERS

    async def work(self) -> None:
        await self._in_batches(
            users.count_changes, BATCH_CHANGES_MAX, full=BATCH_CHANGES_MAX, pause_seconds=PAUSE_SECONDS
        )
        await self._database.transact(users.add_milestones)
