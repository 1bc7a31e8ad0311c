"""Sends queued mails, a few at once, and deletes old finished ones.

A mail is claimed in one transaction, sent outside any, and its result recorded in another. A crash in between leaves a
lease that expires, so a mail may be sent twice but is never lost; its message id stays the same, so a mail server can
detect the duplicate. `core/mail/mail.py` decides how often and when a mail is retried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack
from uuid import UUID

import structlog
import trio

from actors.dispatching import Capacity, Connections, Dispatcher
from core.errors import ServiceUnavailable
from core.mail import mail as mails
from core.mail.mail import ATTEMPTS_MAX, Mail, MailDeferred, MailRefused
from core.spaced_reports import SpacedReports
from ports.doorbells import Bell
from ports.metrics_of_work import MailOutcome, MailServerKind

if TYPE_CHECKING:
    from ports.mail.mail import MailGateway, MailRenderer
    from ports.unit_of_work import UnitOfWork

# One slow delivery occupies one place and leaves the others free.
MAILS_AT_ONCE_MAX = 4
# For mails whose ring was lost, that another replica queued, or whose retry is due.
PERIOD_SECONDS = 10.0
SEND_SECONDS_MAX = 30.0
DELETION_PERIOD_SECONDS = 3600.0
DELETED_MAILS_MAX = 500

JOB_TYPE = "mail"
# In the log alone: deleting is a part of this actor.
DELETION_JOB = "mail_deletion"

log = structlog.get_logger(__name__)


class MailCourier(Dispatcher[Mail]):
    """An actor that drains; without a gateway it keeps every mail for the embedded mailbox."""

    job_type = JOB_TYPE
    subject = "mail"
    bell = Bell.MAIL
    period_seconds = PERIOD_SECONDS
    capacity = Capacity(targets_max=MAILS_AT_ONCE_MAX)

    def __init__(
        self,
        *,
        renderer: MailRenderer,
        gateway: MailGateway | None,
        is_settled: Callable[[], bool] = lambda: True,
        **connections: Unpack[Connections],
    ) -> None:
        """Make the actor; `is_settled` says whether the time is certain enough to delete by it."""
        super().__init__(**connections)
        self._is_settled = is_settled
        self._renderer = renderer
        self._gateway = gateway
        self._deferrals = SpacedReports()

    async def run(self) -> None:
        """Deliver due mails, and delete old ones, until told to drain."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._delete_old_mails)
            await super().run()
            nursery.cancel_scope.cancel()

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[Mail]:
        return mails.claim(uow, free.targets_max)

    def identity(self, target: Mail) -> UUID:
        return target.id

    async def serve(self, target: Mail) -> bool:
        with self._measured():
            record = await self._send(target)
            if await self._recorded(record, **_described(target)) is False:
                log.warning("mail.taken_over", **_described(target))
        return False

    async def _send(self, mail: Mail) -> Callable[[UnitOfWork], bool]:
        """Try to send a mail; return the use case that records the result."""
        if self._gateway is None:
            self._count(MailOutcome.KEPT)
            return partial(mails.record_kept, mail=mail)
        try:
            rendered = self._renderer.render(mail.message, mail.brand)
            with trio.fail_after(SEND_SECONDS_MAX):
                await self._gateway.send(mail.id, mail.message.to, rendered)
        except MailRefused as refused:
            self._count(MailOutcome.FAILED)
            log.warning("mail.refused", **_described(mail), reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailDeferred as deferred:
            return self._deferred(mail, str(deferred))
        except trio.TooSlowError:
            return self._deferred(mail, f"The mail server did not take the mail within {SEND_SECONDS_MAX:.0f} seconds.")
        self._count(MailOutcome.SENT)
        log.info("mail.sent", **_described(mail))
        return partial(mails.record_sent, mail=mail)

    def _deferred(self, mail: Mail, reason: str) -> Callable[[UnitOfWork], bool]:
        is_last = mail.attempts >= ATTEMPTS_MAX
        self._count(MailOutcome.FAILED if is_last else MailOutcome.DEFERRED)
        # A mail server that is away defers every mail; each has its reason in the outbox.
        if (times := self._deferrals.count(trio.current_time(), is_last)) is not None:
            log.warning("mail.deferred", **_described(mail), reason=reason, times=times)
        return partial(mails.record_deferred, mail=mail, error=reason)

    def _count(self, outcome: MailOutcome) -> None:
        self._metrics.mail_attempted(MailServerKind.PLATFORM, outcome)

    async def _delete_old_mails(self) -> None:
        while True:
            if not self._is_settled():
                log.warning("job.waits_for_clock", job=DELETION_JOB, retry_seconds=DELETION_PERIOD_SECONDS)
                await trio.sleep(DELETION_PERIOD_SECONDS)
                continue
            try:
                while await self._database.transact(mails.delete_old, DELETED_MAILS_MAX) == DELETED_MAILS_MAX:
                    log.info("mail.deleted", mails=DELETED_MAILS_MAX)
            except ServiceUnavailable as away:
                log.info("mail.deletion_postponed", reason=away.message)
            await trio.sleep(DELETION_PERIOD_SECONDS)


def _described(mail: Mail) -> dict[str, object]:
    """Return the log fields that identify a mail, without its recipient."""
    return {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
