"""Deletes mails that were finished long ago, and lets those expire that have waited too long for their mail server.

`core/mail/mail.py` and `routed_mail.py` beside it decide which. The process that polls does it.
"""

from __future__ import annotations

from typing import Final

import structlog

from actors.periods import PeriodicActor
from core.mail import mail, routed_mail

BATCH_MAILS_MAX: Final = 500

log = structlog.get_logger(__name__)


class OldMails(PeriodicActor):
    """An actor; mails that it has not reached remain for the next period."""

    job_type = "old_mails"
    period_seconds = 3600.0
    in_turn = True

    async def work(self) -> None:
        if deleted := await self._in_batches(mail.delete_old, BATCH_MAILS_MAX, full=BATCH_MAILS_MAX):
            log.info("mail.deleted", mails=deleted)
        if expired := await self._in_batches(routed_mail.expire, BATCH_MAILS_MAX, full=BATCH_MAILS_MAX):
            log.info("routed_mail.expired", mails=expired)
