"""Tells the readers who follow audit logs that there are new entries, by one statement for all logs that are followed.

Every process watches for its own readers, and does nothing while there are none. It is woken by the sealer of this
process, and by its period for the entries that another one has sealed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import tails

if TYPE_CHECKING:
    from ports.audit.tails import FollowedLogs

PERIOD_SECONDS: Final = 1.0

JOB_TYPE: Final = "audit_tails"


class AuditTailWatcher(PeriodicActor):
    """An actor; a reader that is not told looks again by itself."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    def __init__(self, *, logs: FollowedLogs, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._logs = logs

    async def wait(self) -> None:
        await self._logs.pause(self.period_seconds)
        await self._logs.wait_for_readers()

    async def work(self) -> None:
        followed = self._logs.followed()
        if not followed:
            return
        positions = await self._after_requests(tails.positions, followed)
        # Of logs that were not followed when their positions were read, nothing is known.
        self._logs.tell({log: positions.get(log, 0) for log in followed})
