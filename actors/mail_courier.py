"""Brings queued letters out of the house, a few at once, and sweeps away those that were dealt with long ago.

A letter is claimed in one transaction, sent outside any, and what came of it recorded in another. A crash in between
leaves a lease that runs out, so a letter may go out twice but is never lost; its message id stays the same, by which a
mail server can tell. How often and when a letter is tried again is decided in `core/mail/mail.py`.
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

# One slow mail server occupies one place and leaves the others to the rest.
LETTERS_AT_ONCE_MAX = 4
# For letters whose ring was lost, that another replica queued, or whose retry is due.
PERIOD_SECONDS = 10.0
SEND_SECONDS_MAX = 30.0
# A letter that is out but not recorded goes out again, so a database that is away for a moment is waited for.
RECORD_SECONDS_MAX = 20.0
RECORD_PAUSE_SECONDS = 1.0
FORGET_PERIOD_SECONDS = 3600.0
DELETE_MAILS_MAX = 500

JOB_TYPE = "mail"

log = structlog.get_logger(__name__)


class MailCourier:
    """An actor; without a gateway it leaves every letter to the embedded mailbox."""

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
        """Deliver letters as they fall due, until told to drain."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._delete_old_mails)
            await self._deliver_until_drained()
            nursery.cancel_scope.cancel()

    def drain(self) -> None:
        """Finish the letters in hand, take no more, and return from `run`."""
        self._is_draining = True
        # It may be resting, and would find out only after its period.
        self._doorbells.ring(Bell.MAIL)

    async def _deliver_until_drained(self) -> None:
        places = trio.Semaphore(LETTERS_AT_ONCE_MAX)
        async with trio.open_nursery() as nursery:
            while not self._is_draining:
                # No more letters than places, so that none that was claimed waits while its lease runs.
                free = places.value
                claimed = await self._claim(free)
                for mail in claimed:
                    places.acquire_nowait()
                    nursery.start_soon(self._deliver, mail, places)
                if len(claimed) < free:
                    await self._doorbells.wait(Bell.MAIL, PERIOD_SECONDS)
                else:
                    # One becomes free, and stays so, because nobody but this loop gives places away.
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
        """Try to send a letter; give the use case that remembers what came of it."""
        if self._gateway is None:
            return partial(mails.record_kept, mail=mail)
        try:
            rendered = self._renderer.render(mail.message)
            with trio.fail_after(SEND_SECONDS_MAX):
                await self._gateway.send(mail.id, mail.message.to, rendered)
        except MailRefused as refused:
            log.warning("mail.refused", **_described(mail), reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailDeferred as deferred:
            return _deferred(mail, str(deferred))
        except trio.TooSlowError:
            return _deferred(mail, f"The mail server did not take the letter within {SEND_SECONDS_MAX:.0f} seconds.")
        log.info("mail.sent", **_described(mail))
        return partial(mails.record_sent, mail=mail)

    async def _record(self, mail: Mail, record: Callable[[UnitOfWork], bool]) -> None:
        # Shielded, because a letter that went out and is not recorded goes out again after every shutdown.
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
                while await self._database.transact(mails.forget, DELETE_MAILS_MAX) == DELETE_MAILS_MAX:
                    log.info("mail.forgotten", mails=DELETE_MAILS_MAX)
            except ServiceUnavailable as away:
                log.info("mail.forget_postponed", reason=away.message)
            await trio.sleep(FORGET_PERIOD_SECONDS)


def _deferred(mail: Mail, reason: str) -> Callable[[UnitOfWork], bool]:
    log.warning("mail.deferred", **_described(mail), reason=reason)
    return partial(mails.record_deferred, mail=mail, error=reason)


def _described(mail: Mail) -> dict[str, object]:
    """Say in a log which letter it is, without saying to whom."""
    return {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
