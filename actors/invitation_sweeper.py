"""Expires invitations when their lifetime is over, a few at a time, so that requests do not wait for it.

`core/invitations/invitations.py` defines what expiring means. The poller tells the processes when one is due, and they
share what there is. Invitations of an organization that is not active stay unchanged until it is active again.
"""

from __future__ import annotations

import structlog
import trio

from actors.periods import PeriodicActor
from core.invitations import invitations
from core.invitations.invitations import DueInvitation
from ports.mailboxes import Changed, Figure, WorkKind

# A batch locks all its rows until it commits; the pause leaves the database to others.
BATCH_ROWS_MAX = 20
PAUSE_SECONDS = 0.02

log = structlog.get_logger(__name__)


class InvitationSweeper(PeriodicActor):
    """An actor; invitations that it has not expired remain due, so it needs no draining."""

    job_type = "invitation_sweep"
    # Without a poll; a use case that reads an invitation expires it when necessary.
    period_seconds = 60.0
    work_kind = WorkKind.INVITATIONS

    async def work(self) -> None:
        if not await self._after_requests(invitations.are_due, is_one_statement=True):
            return
        expired = 0
        after: DueInvitation | None = None
        while True:
            swept = await self._after_requests(invitations.sweep, after, BATCH_ROWS_MAX)
            expired += swept.expired
            after = swept.continue_after
            if after is None:
                break
            await trio.sleep(PAUSE_SECONDS)
        if expired:
            log.info("invitations.expired", invitations=expired)
            # The commits have told the sequencer.
            self._mailboxes.send(WorkKind.FIGURES, Changed(Figure.PLATFORM))
