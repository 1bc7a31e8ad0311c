"""Sends queued mails, a few at once, and deletes old finished ones.

A mail is claimed in one transaction, sent outside any, and its result recorded in another. A crash in between leaves a
lease that expires, so a mail may be sent twice but is never lost; its message id stays the same, so a mail server can
detect the duplicate. `core/mail/mail.py` decides how often and when a mail is retried.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from core.errors import ServiceUnavailable
from core.mail import mail as mails
from core.mail.mail import Mail, MailDeferred, MailRefused
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ports.database import Database
    from ports.doorbells import AwaitableDoorbells
    from ports.mail.mail import MailGateway, MailRenderer
    from ports.metrics import Metrics
    from ports.unit_of_work import UnitOfWork

# One slow delivery occupies one place and leaves the others free.
MAILS_AT_ONCE_MAX = 4
# For mails whose ring was lost, that another replica queued, or whose retry is due.
PERIOD_SECONDS = 10.0
SEND_SECONDS_MAX = 30.0
# A mail that was sent but not recorded is sent again, so the courier waits for a database that is briefly away.
RECORD_SECONDS_MAX = 20.0
RECORD_PAUSE_SECONDS = 1.0
DELETION_PERIOD_SECONDS = 3600.0
DELETED_MAILS_MAX = 500

JOB_TYPE = "mail"

log = structlog.get_logger(__name__)


class MailCourier:
    """An actor; without a gateway it keeps every mail for the embedded mailbox."""

    def __init__(
        self,
        *,
        database: Database,
        doorbells: AwaitableDoorbells,
        renderer: MailRenderer,
        gateway: MailGateway | None,
        metrics: Metrics,
    ) -> None:
        self._database = database
        self._doorbells = doorbells
        self._renderer = renderer
        self._gateway = gateway
        self._metrics = metrics
        self._is_draining = False
        self._is_database_away = False

    async def run(self) -> None:
        """Deliver due mails until told to drain."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._delete_old_mails)
            await self._deliver_until_drained()
            nursery.cancel_scope.cancel()

    def drain(self) -> None:
        """Finish the claimed mails, claim no more, and return from `run`."""
        self._is_draining = True
        # It may be waiting, and would notice only after its period.
        self._doorbells.ring(Bell.MAIL)

    async def _deliver_until_drained(self) -> None:
        places = trio.Semaphore(MAILS_AT_ONCE_MAX)
        async with trio.open_nursery() as nursery:
            while not self._is_draining:
                # No more mails than places, so that no claimed mail waits while its lease runs.
                free = places.value
                claimed = await self._claim(free)
                for mail in claimed:
                    places.acquire_nowait()
                    nursery.start_soon(self._deliver, mail, places)
                if len(claimed) < free:
                    await self._doorbells.wait(Bell.MAIL, PERIOD_SECONDS)
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places:
                        pass

    async def _claim(self, messages_max: int) -> Sequence[Mail]:
        try:
            claimed = await self._database.transact(mails.claim, messages_max)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning("mail.database_away", retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return claimed

    async def _deliver(self, mail: Mail, place: trio.Semaphore) -> None:
        began_at = trio.current_time()
        try:
            await self._record(mail, await self._send(mail))
        finally:
            place.release()
        self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)

    async def _send(self, mail: Mail) -> Callable[[UnitOfWork], bool]:
        """Try to send a mail; return the use case that records the result."""
        if self._gateway is None:
            return partial(mails.record_kept, mail=mail)
        try:
            rendered = self._renderer.render(mail.message, mail.brand)
            with trio.fail_after(SEND_SECONDS_MAX):
                await self._gateway.send(mail.id, mail.message.to, rendered)
        except MailRefused as refused:
            log.warning("mail.refused", **_described(mail), reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailDeferred as deferred:
            return _deferred(mail, str(deferred))
        except trio.TooSlowError:
            return _deferred(mail, f"The mail server did not take the mail within {SEND_SECONDS_MAX:.0f} seconds.")
        log.info("mail.sent", **_described(mail))
        return partial(mails.record_sent, mail=mail)

    async def _record(self, mail: Mail, record: Callable[[UnitOfWork], bool]) -> None:
        # Shielded, because a mail that was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    if not await self._database.transact(record):
                        log.warning("mail.taken_over", **_described(mail))
                    return
                except ServiceUnavailable as away:
                    log.warning("mail.record_postponed", **_described(mail), reason=away.message)
                    await trio.sleep(RECORD_PAUSE_SECONDS)
        log.error("mail.not_recorded", **_described(mail))

    async def _delete_old_mails(self) -> None:
        while True:
            try:
                while await self._database.transact(mails.delete_old, DELETED_MAILS_MAX) == DELETED_MAILS_MAX:
                    log.info("mail.deleted", mails=DELETED_MAILS_MAX)
            except ServiceUnavailable as away:
                log.info("mail.deletion_postponed", reason=away.message)
            await trio.sleep(DELETION_PERIOD_SECONDS)


def _deferred(mail: Mail, reason: str) -> Callable[[UnitOfWork], bool]:
    log.warning("mail.deferred", **_described(mail), reason=reason)
    return partial(mails.record_deferred, mail=mail, error=reason)


def _described(mail: Mail) -> dict[str, object]:
    """Return the log fields that identify a mail, without its recipient."""
    return {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
