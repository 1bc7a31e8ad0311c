"""Counts in advance what pages show, so that no page counts millions of rows.

The process whose turn it is counts. The use cases decide which rows are old enough. While none counts, results stay
correct: a page then adds what is not counted yet, or says up to when it is counted.
"""

from __future__ import annotations

import trio

from actors.periods import PeriodicActor
from core.audit import audit_log, sign_in_counts
from core.service_api import users
from core.services import sales
from ports.mailboxes import WorkKind

# Each audit entry takes some 17 blocks, each sign-in and each changed subscription some 40, each forgotten day two; the
# pause leaves the connection to others.
BATCH_ENTRIES_MAX = 200
BATCH_SIGN_INS_MAX = 100
FORGOTTEN_DAYS_MAX = 2_000
BATCH_SALES_MAX = 100
PAUSE_SECONDS = 0.01
# Days go out of use one a day.
FORGETTING_SECONDS = 3600.0
# A batch of changed users takes some 50 ms.
BATCH_USERS_MAX = 1_000
USERS_PAUSE_SECONDS = 0.1


class AuditCounter(PeriodicActor):
    """An actor; entries that it has not counted remain for the next period, so it needs no draining."""

    job_type = "audit_counting"
    period_seconds = 60.0
    in_turn = True

    async def work(self) -> None:
        await self._in_short_batches(audit_log.count_next, rows_max=BATCH_ENTRIES_MAX, pause_seconds=PAUSE_SECONDS)


class SignInCounter(PeriodicActor):
    """An actor; sign-ins that it has not counted remain for the next period, so it needs no draining."""

    job_type = "sign_in_counting"
    period_seconds = 60.0
    in_turn = True
    _forgets_at = 0.0

    async def work(self) -> None:
        await self._in_short_batches(
            sign_in_counts.count_next, rows_max=BATCH_SIGN_INS_MAX, pause_seconds=PAUSE_SECONDS
        )
        if trio.current_time() >= self._forgets_at:
            await self._in_short_batches(
                sign_in_counts.forget_days, rows_max=FORGOTTEN_DAYS_MAX, pause_seconds=PAUSE_SECONDS
            )
            self._forgets_at = trio.current_time() + FORGETTING_SECONDS


class SalesCounter(PeriodicActor):
    """An actor; changes that it has not added up remain for the next period, so it needs no draining."""

    job_type = "sales_counting"
    # A page adds what is not added up yet, so it may wait for a while.
    period_seconds = 60.0
    in_turn = True
    work_kind = WorkKind.SALES

    async def work(self) -> None:
        if await self._after_requests(sales.has_new, is_one_statement=True):
            await self._in_short_batches(sales.add_up, rows_max=BATCH_SALES_MAX, pause_seconds=PAUSE_SECONDS)


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
            users.count_changes, BATCH_USERS_MAX, full=BATCH_USERS_MAX, pause_seconds=USERS_PAUSE_SECONDS
        )
        await self._database.transact(users.add_milestones)
