"""Sends queued mails, a few at once.

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
from core.mail import mail as mails
from core.mail.mail import ATTEMPTS_MAX, Mail, MailDeferred, MailRefused
from core.spaced_reports import SpacedReports
from ports.mailboxes import WorkKind
from ports.metrics_of_work import MailOutcome, MailServerKind

if TYPE_CHECKING:
    from ports.mail.mail import MailGateway, MailRenderer
    from ports.unit_of_work import UnitOfWork

# One slow delivery occupies one place and leaves the others free.
MAILS_AT_ONCE_MAX = 4
SEND_SECONDS_MAX = 30.0
# A claim costs as much as a third of a registration.
REST_SECONDS = 0.1

log = structlog.get_logger(__name__)


class MailCourier(Dispatcher[Mail]):
    """An actor that drains; without a gateway it keeps every mail for the embedded mailbox."""

    job_type = "mail"
    subject = "mail"
    work_kind = WorkKind.MAIL
    # For mails whose message was lost, that another replica queued, or whose retry is due.
    period_seconds = 10.0
    rest_seconds = REST_SECONDS
    capacity = Capacity(targets_max=MAILS_AT_ONCE_MAX)

    def __init__(
        self,
        *,
        renderer: MailRenderer,
        gateway: MailGateway | None,
        **connections: Unpack[Connections],
    ) -> None:
        super().__init__(**connections)
        self._renderer = renderer
        self._gateway = gateway
        self._deferrals = SpacedReports()

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


def _described(mail: Mail) -> dict[str, object]:
    """Return the log fields that identify a mail, without its recipient."""
    return {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
