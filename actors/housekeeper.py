"""Deletes expired rows periodically, in small batches, so that the tables hold only what is in use.

`core/platform/housekeeping.py` decides what is kept for how long, and `log_months.py` beside it lists the logs, whose
monthly partitions are made before they begin, and dropped when they have expired. The process that polls does both, and
a part of the kinds at a time, so that a pass is no burst of statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Unpack

import structlog
import trio

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.errors import ServiceUnavailable
from core.platform import ended_organizations, housekeeping, log_months
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log
from core.privacy import anonymization
from core.scim import left_directories

# In which every kind has its turn once.
PERIOD_SECONDS = 600.0
KINDS_AT_ONCE = 2
PARTS = [list(Leftover)[first : first + KINDS_AT_ONCE] for first in range(0, len(Leftover), KINDS_AT_ONCE)]
# What is too old in other ways, one or a part of one in a transaction, with the words of the log: accounts that were
# closed too long ago to be reopened, directories that left, and organizations that can no longer be restored.
ONE_BY_ONE = (
    ("accounts_forgotten", "accounts", anonymization.forget_next_closed),
    ("directories_forgotten", "directories", left_directories.forget_next),
    ("organizations_deleted", "parts", ended_organizations.delete_next),
)
# A batch locks its rows and uses a connection for some milliseconds; the pause leaves both to others.
PAUSE_SECONDS = 0.1

log = structlog.get_logger(__name__)


class Housekeeper(PeriodicActor):
    """An actor; rows that it has not deleted remain for the next period, so it needs no draining."""

    job_type = "housekeeping"
    period_seconds = PERIOD_SECONDS / len(PARTS)
    in_turn = True

    def __init__(
        self, *, kept_for: Mapping[Leftover, timedelta] | None = None, **connections: Unpack[PeriodicConnections]
    ) -> None:
        super().__init__(**connections)
        # What the operator has set; the other kinds are kept as long as each of them says.
        self._kept_for = kept_for or {}
        # One for each kind: with some rows others go that refer to them, of any number.
        self._batches = {leftover: BatchSize(leftover.rows_max) for leftover in Leftover}
        self._next_part = 0
        self._failed: list[Leftover] = []

    async def work(self) -> None:
        # What failed is tried again every period, after the others, so that it delays none of them.
        todo, failed = [*PARTS[self._next_part], *self._failed], list[Leftover]()
        for leftover in todo:
            try:
                await self._sweep(leftover)
            except ServiceUnavailable as away:
                failed.append(leftover)
                if len(failed) == len(todo):
                    # The database is away: this part comes again.
                    raise
                log.info("housekeeping.postponed", table=leftover.value, reason=away.message)
        part, self._next_part, self._failed = self._next_part, (self._next_part + 1) % len(PARTS), failed
        if part == 0:
            for words, counted, use_case in ONE_BY_ONE:
                if done := await self._in_batches(use_case, full=1, pause_seconds=PAUSE_SECONDS):
                    log.info(f"housekeeping.{words}", **{counted: done})

    async def _sweep(self, leftover: Leftover) -> None:
        """Delete all expired rows of one kind."""
        kept_for = self._kept_for.get(leftover, leftover.kept_for)
        batch = self._batches[leftover]
        rows, is_full = 0, True
        while is_full:
            limit = batch.rows
            deleted = await self._in_size(
                batch, housekeeping.sweep, leftover, kept_for, limit, is_one_statement=leftover.is_one_statement
            )
            rows, is_full = rows + deleted, deleted >= limit
            if is_full:
                await trio.sleep(PAUSE_SECONDS)
        if rows:
            log.info("housekeeping.swept", table=leftover.value, rows=rows)


class LogMonthKeeper(PeriodicActor):
    """An actor; a month that it has not made or dropped remains for the next period, so it needs no draining."""

    job_type = "log_months"
    period_seconds = 3600.0
    in_turn = True

    def __init__(
        self, *, kept_for: Mapping[Log, timedelta] | None = None, **connections: Unpack[PeriodicConnections]
    ) -> None:
        super().__init__(**connections)
        # What the operator has set; the other logs are kept as long as each of them says.
        self._kept_for = kept_for or {}

    async def work(self) -> None:
        for one in Log:
            try:
                await self._keep(one)
            except ServiceUnavailable as away:
                # A long transaction holds the log: the others need not wait for it.
                log.info("log_months.postponed", log=one.value, reason=away.message)

    async def _keep(self, one: Log) -> None:
        while (month := await self._after_requests(log_months.make_next, one)) is not None:
            log.info("log_months.made", log=one.value, month=f"{month:%Y-%m}")
        kept_for = self._kept_for.get(one, one.kept_for)
        while (partition := await self._after_requests(log_months.drop_next, one, kept_for)) is not None:
            log.info("log_months.dropped", log=one.value, partition=partition)
