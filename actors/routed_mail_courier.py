"""Sends mails through the mail servers of their organizations: leases servers with due mails, one mail after the other.

A server has one place, whatever waits for it, and a failure of the server ends its lease at once, so a dead server
delays no other organization. The rules are in `core/mail/routed_mail.py`; a crash leaves a lease that ends, and the
mail may be sent again under the same message id.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from core.errors import ServiceUnavailable
from core.mail import mail as mails
from core.mail import routed_mail
from core.mail.mail import MailDeferred, MailRefused, MailServerUnusable
from core.organizations.settings import mail as settings
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from core.mail.mail import Mail
    from core.mail.routed_mail import LeasedServer
    from ports.database import Database
    from ports.doorbells import AwaitableDoorbells
    from ports.mail.mail import MailRenderer, RoutingGateway
    from ports.metrics import Metrics
    from ports.unit_of_work import UnitOfWork

    Result = TypeVar("Result")

SERVERS_AT_ONCE_MAX: Final = 16
# So many that they are attempted before the lease ends, each within its time.
MAILS_OF_LEASE_MAX: Final = 8
SEND_SECONDS_MAX: Final = 30.0
# For retries, and for mails that another replica queued.
PERIOD_SECONDS: Final = 10.0
# A mail that was sent but not recorded is sent again, so the courier waits for a database that is briefly away.
RECORD_SECONDS_MAX: Final = 20.0
RECORD_PAUSE_SECONDS: Final = 1.0
EXPIRY_PERIOD_SECONDS: Final = 3600.0
EXPIRED_MAILS_MAX: Final = 500

JOB_TYPE: Final = "routed_mail"

log = structlog.get_logger(__name__)


class RoutedMailCourier:
    """An actor that drains: it finishes the mail in flight to each server and leases no more."""

    def __init__(
        self,
        *,
        database: Database,
        doorbells: AwaitableDoorbells,
        renderer: MailRenderer,
        gateway: RoutingGateway,
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
        """Send what is due until told to drain."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._expire_old_mails)
            await self._serve_until_drained()
            nursery.cancel_scope.cancel()

    def drain(self) -> None:
        """Finish the mails in flight, lease no more, and return from `run`."""
        self._is_draining = True
        # It may be waiting, and would notice only after its period.
        self._doorbells.ring(Bell.ROUTED_MAIL)

    async def _serve_until_drained(self) -> None:
        places = trio.Semaphore(SERVERS_AT_ONCE_MAX)
        async with trio.open_nursery() as nursery:
            while not self._is_draining:
                # No more servers than places, so that no leased one waits.
                free = places.value
                leased = await self._lease(free)
                for server in leased:
                    places.acquire_nowait()
                    nursery.start_soon(self._serve_in_place, server, places)
                if len(leased) < free:
                    await self._doorbells.wait(Bell.ROUTED_MAIL, PERIOD_SECONDS)
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places:
                        pass

    async def _lease(self, servers_max: int) -> Sequence[LeasedServer]:
        try:
            leased = await self._database.transact(routed_mail.lease, servers_max, MAILS_OF_LEASE_MAX)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning("routed_mail.database_away", retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return leased

    async def _serve_in_place(self, leased: LeasedServer, place: trio.Semaphore) -> None:
        try:
            await self.serve(leased)
        finally:
            place.release()
        if len(leased.mails) == MAILS_OF_LEASE_MAX:
            # More may be due.
            self._doorbells.ring(Bell.ROUTED_MAIL)

    async def serve(self, leased: LeasedServer) -> None:
        """Attempt the mails of a leased server, record the result of each, and end the lease."""
        await self._recorded(await self._send_all(leased))

    async def _send_all(self, leased: LeasedServer) -> Callable[[UnitOfWork], object]:
        """Attempt the mails of a lease in their order; return the use case that ends the lease."""
        has_accepted = False
        for position, mail in enumerate(leased.mails):
            began_at = trio.current_time()
            if self._is_draining:
                return partial(routed_mail.return_unsent, leased=leased, unsent=leased.mails[position:])
            try:
                record = await self._attempt(leased, mail)
            except MailServerUnusable as unusable:
                log.warning("routed_mail.server_failed", **_described(leased), reason=str(unusable))
                unsent = leased.mails[position:]
                return partial(settings.record_failure, leased=leased, error=str(unusable), unsent=unsent)
            has_accepted = has_accepted or record.func is mails.record_sent
            await self._recorded(record)
            self._metrics.job_finished(JOB_TYPE, trio.current_time() - began_at)
        return partial(routed_mail.release, leased=leased, has_accepted=has_accepted)

    async def _attempt(self, leased: LeasedServer, mail: Mail) -> partial[bool]:
        """Try to send a mail; return the use case that records the result, or raise `MailServerUnusable`."""
        try:
            rendered = self._renderer.render(mail.message, mail.brand)
            with trio.fail_after(SEND_SECONDS_MAX):
                await self._gateway.send(leased.server, mail.id, mail.message.to, rendered)
        except MailRefused as refused:
            log.warning("routed_mail.refused", **_described(leased, mail), reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailServerUnusable:
            raise
        except MailDeferred as deferred:
            log.warning("routed_mail.deferred", **_described(leased, mail), reason=str(deferred))
            return partial(mails.record_deferred, mail=mail, error=str(deferred))
        except trio.TooSlowError:
            raise MailServerUnusable(
                f"The mail server did not take the mail within {SEND_SECONDS_MAX:.0f} seconds."
            ) from None
        log.info("routed_mail.sent", **_described(leased, mail))
        return partial(mails.record_sent, mail=mail)

    async def _recorded(self, record: Callable[[UnitOfWork], object]) -> None:
        # Shielded, because a mail that was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    await self._database.transact(record)
                except ServiceUnavailable as away:
                    log.warning("routed_mail.record_postponed", reason=away.message)
                    await trio.sleep(RECORD_PAUSE_SECONDS)
                else:
                    return
        log.error("routed_mail.not_recorded")

    async def _expire_old_mails(self) -> None:
        while True:
            try:
                while await self._database.transact(routed_mail.expire, EXPIRED_MAILS_MAX) == EXPIRED_MAILS_MAX:
                    log.info("routed_mail.expired", mails=EXPIRED_MAILS_MAX)
            except ServiceUnavailable as away:
                log.info("routed_mail.expiry_postponed", reason=away.message)
            await trio.sleep(EXPIRY_PERIOD_SECONDS)


def _described(leased: LeasedServer, mail: Mail | None = None) -> dict[str, object]:
    """Return the log fields that identify a server, and a mail without its recipient."""
    described: dict[str, object] = {"organization_id": str(leased.organization_id)}
    if mail is not None:
        described |= {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
    return described
