"""Seals audit entries into the hash chains of their organizations, a few seconds after they were written.

`core/audit/chain.py` decides how. Every replica has a sealer, and one of them seals at a time. What is not sealed yet
waits in the table, also the millions of entries of a log that is older than its chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Unpack

import structlog
import trio

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import chain
from core.audit.chain import LogPart, UnsealedLog
from ports.mailboxes import Due, WorkKind

# Each entry writes some 50 blocks, its row in a dozen indexes and its seal. The pause leaves the loop to requests.
BATCH_ENTRIES_MAX: Final = 64
PAUSE_SECONDS: Final = 0.005
# After a batch of this share of its size, or of less, the next one may have more: each costs as much as some entries.
SMALL_SHARE: Final = 1 / 8
REST_SECONDS: Final = 0.25
# What takes longer is a backlog, which is counted and reported so often.
BACKLOG_SECONDS: Final = 1.0
REPORT_SECONDS: Final = 10.0
# Entries that were not sealed when they were new are looked for at the start and so often.
THOROUGH_SECONDS: Final = 3600.0

log = structlog.get_logger(__name__)


class AuditSealer(PeriodicActor):
    """An actor; a batch is one transaction, so it needs no draining."""

    job_type = "audit_sealing"
    period_seconds = 2.0
    work_kind = WorkKind.SEALING

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._batch = BatchSize(BATCH_ENTRIES_MAX)
        self._largest: Sequence[UnsealedLog] = ()
        self._thorough_at = 0.0
        self._report_at = 0.0
        self._sealed = 0

    async def work(self) -> None:
        self._sealed, self._report_at = 0, trio.current_time() + BACKLOG_SECONDS
        if trio.current_time() >= self._thorough_at:
            # A part at a time: a statement that looks into all months costs many times as much.
            for part in await self._database.read(chain.parts):
                while await self._seal(part):
                    # What is new does not wait for the old months.
                    await self._seal(chain.SEALED_WITHIN)
            self._thorough_at = trio.current_time() + THOROUGH_SECONDS
        rows = self._batch.rows
        while (sealed := await self._seal(chain.SEALED_WITHIN)) > rows * SMALL_SHARE:
            rows = self._batch.rows
        # What comes in the rest is sealed then. This run ends, because entries may never stop coming.
        self.rest_seconds = REST_SECONDS if sealed else 0.0
        if sealed:
            self.box.send(Due())
        if self._largest:
            # Until there is none: another process may have sealed the rest.
            await self._report_backlog()

    async def _seal(self, within: timedelta | LogPart) -> int:
        """Seal a batch, then tell its readers, report a backlog, and pause."""
        sealed = await self._in_size(self._batch, chain.seal_next, self._batch.rows, self._largest, within)
        if sealed:
            self._sealed += sealed
            self._mailboxes.send(WorkKind.AUDIT_TAILS, Due())
            if trio.current_time() >= self._report_at:
                await self._report_backlog()
            await trio.sleep(PAUSE_SECONDS)
        return sealed

    async def _report_backlog(self) -> None:
        backlog = await self._database.read(chain.backlog)
        self._largest = backlog.largest
        self._metrics.audit_entries_unsealed(backlog.entries)
        log.debug("audit.sealing", sealed=self._sealed, unsealed=backlog.entries)
        self._report_at, self._sealed = trio.current_time() + REPORT_SECONDS, 0
