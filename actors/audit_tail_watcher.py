"""Wakes readers who follow audit logs when there are new entries, by one statement for all followed logs.

Every process watches for its own readers, and does nothing while there are none. The first reader to wait and the
sealer of this process wake it; entries that another process has sealed it finds within a second.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Unpack

from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import browser
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.audit.siem import FollowedLogs

PERIOD_SECONDS: Final = 1.0

JOB_TYPE: Final = "audit_tails"


class AuditTailWatcher(PeriodicActor):
    """An actor; a reader that is not told looks again by itself."""

    job_type = JOB_TYPE
    work_kind = WorkKind.AUDIT_TAILS

    def __init__(self, *, logs: FollowedLogs, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._logs = logs

    async def work(self) -> None:
        followed = self._logs.followed()
        self.period_seconds = PERIOD_SECONDS if followed else math.inf
        if not followed:
            return
        positions = await self._after_requests(browser.positions, followed)
        # Of logs that were not followed when their positions were read, nothing is known.
        self._logs.tell({log: positions.get(log, 0) for log in followed})
