"""Seals audit entries into the hash chains of their organizations, a few seconds after they were written.

`core/audit/chain.py` decides how. Every replica has a sealer, and one of them seals at a time. What is not sealed yet
waits in the table, also the millions of entries of a log that is older than its chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from actors.periods import repeat
from core.audit import chain

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import Metrics

PERIOD_SECONDS: Final = 2.0
# The hashes of a batch take some 10 ms of the event loop; the pause leaves it to requests.
BATCH_ENTRIES_MAX: Final = 100
PAUSE_SECONDS: Final = 0.02

JOB_TYPE: Final = "audit_sealing"


class AuditSealer:
    """An actor; a batch is one transaction, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Seal every period, until cancelled."""
        await repeat(self._seal, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _seal(self) -> None:
        sealed = await self._database.transact(chain.seal_next, BATCH_ENTRIES_MAX)
        while sealed:
            await trio.sleep(PAUSE_SECONDS)
            sealed = await self._database.transact(chain.seal_next, BATCH_ENTRIES_MAX)
