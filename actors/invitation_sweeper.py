"""Expires invitations after their lifetime, a few at a time, so that requests do not wait for it.

`core/invitations/invitations.py` defines what expiring means. The process that polls does it. Invitations of an
organization that is not active stay unchanged until it is active again; a pass skips them.
"""

from __future__ import annotations

import structlog
import trio

from actors.periods import PeriodicActor
from core.invitations import invitations
from core.invitations.invitations import Due

# A use case that reads an invitation expires it when necessary, so a long period is enough.
PERIOD_SECONDS = 60.0
# A batch locks all its rows until it commits; the pause leaves the database to others.
BATCH_ROWS_MAX = 20
PAUSE_SECONDS = 0.02

JOB_TYPE = "invitation_sweep"

log = structlog.get_logger(__name__)


class InvitationSweeper(PeriodicActor):
    """An actor; invitations that it has not expired remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS

    async def work(self) -> None:
        if not await self._after_requests(invitations.are_due, is_one_statement=True):
            return
        expired = 0
        after: Due | None = None
        while True:
            swept = await self._after_requests(invitations.sweep, after, BATCH_ROWS_MAX)
            expired += swept.expired
            after = swept.continue_after
            if after is None:
                break
            await trio.sleep(PAUSE_SECONDS)
        if expired:
            log.info("invitations.expired", invitations=expired)
