"""Expires invitations whose time is over, a few at a time, so that nobody waits for it.

`core/invitations/invitations.py` defines what expiring means. Every replica has a sweeper; they share the work.
Invitations of an organization that is not active stay as they are until it is active again; a pass skips them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from actors.periods import repeat
from core.invitations import invitations

if TYPE_CHECKING:
    from core.invitations.invitations import Due
    from ports.database import Database
    from ports.metrics import Metrics

# An invitation that is met before the sweeper gets to it is expired on the spot, so there is no hurry.
PERIOD_SECONDS = 60.0
# All of a batch are held until the last is written down; the pause leaves the database to others.
BATCH_ROWS_MAX = 20
PAUSE_SECONDS = 0.02

JOB_TYPE = "invitation_sweep"

log = structlog.get_logger(__name__)


class InvitationSweeper:
    """An actor; what it has not got to is still there the next time, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Sweep every period, for ever."""
        await repeat(self._sweep, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _sweep(self) -> None:
        """Go once through all that have run out."""
        expired = 0
        after: Due | None = None
        while True:
            swept = await self._database.transact(invitations.sweep, after, BATCH_ROWS_MAX)
            expired += swept.expired
            after = swept.go_on_after
            if after is None:
                break
            await trio.sleep(PAUSE_SECONDS)
        if expired:
            log.info("invitations.expired", invitations=expired)
