"""Sends mails through the mail servers of their organizations: leases servers with due mails, one mail after the other.

A server has one place, whatever waits for it, and a failure of the server ends its lease at once, so a dead server
delays no other organization. The rules are in `core/mail/routed_mail.py`; a crash leaves a lease that ends, and the
mail may be sent again under the same message id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import structlog
import trio

from actors.dispatching import Capacity, Connections, Dispatcher
from core.mail import mail as mails
from core.mail import routed_mail
from core.mail.mail import Mail, MailDeferred, MailRefused, MailServerUnusable
from core.mail.routed_mail import LeasedServer
from core.organizations.settings import smtp as settings
from core.spaced_reports import SpacedReports
from ports.mailboxes import WorkKind
from ports.metrics_of_work import MailOutcome, MailServerKind

if TYPE_CHECKING:
    from ports.mail.mail import MailRenderer, RoutingGateway
    from ports.unit_of_work import UnitOfWork

SERVERS_AT_ONCE_MAX: Final = 16
# Few enough that all are attempted before the lease ends, each within its time.
MAILS_OF_LEASE_MAX: Final = 8
SEND_SECONDS_MAX: Final = 30.0

log = structlog.get_logger(__name__)


class RoutedMailCourier(Dispatcher[LeasedServer]):
    """An actor that drains: it finishes the mail in flight to each server and leases no more."""

    job_type = "routed_mail"
    subject = "routed_mail"
    work_kind = WorkKind.ROUTED_MAIL
    # For retries, and for mails that another replica queued.
    period_seconds = 10.0
    capacity = Capacity(targets_max=SERVERS_AT_ONCE_MAX, items_max=MAILS_OF_LEASE_MAX)

    def __init__(self, *, renderer: MailRenderer, gateway: RoutingGateway, **connections: Unpack[Connections]) -> None:
        super().__init__(**connections)
        self._renderer = renderer
        self._gateway = gateway
        self._deferrals = SpacedReports()

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedServer]:
        return routed_mail.lease(uow, free.targets_max, free.items_max)

    def identity(self, target: LeasedServer) -> UUID:
        return target.organization_id

    async def serve(self, target: LeasedServer) -> bool:
        await self._recorded(await self._send_all(target))
        return len(target.mails) == MAILS_OF_LEASE_MAX

    async def _send_all(self, leased: LeasedServer) -> Callable[[UnitOfWork], object]:
        """Attempt the mails of a lease in their order; return the use case that ends the lease."""
        has_accepted = False
        for position, mail in enumerate(leased.mails):
            if self.box.is_draining:
                return partial(routed_mail.return_unsent, leased=leased, unsent=leased.mails[position:])
            try:
                with self._measured():
                    record = await self._attempt(leased, mail)
                    await self._recorded(record)
            except MailServerUnusable as unusable:
                self._count(MailOutcome.DEFERRED)
                log.warning("routed_mail.server_failed", **_described(leased), reason=str(unusable))
                unsent = leased.mails[position:]
                return partial(settings.record_failure, leased=leased, error=str(unusable), unsent=unsent)
            has_accepted = has_accepted or record.func is mails.record_sent
        return partial(routed_mail.release, leased=leased, has_accepted=has_accepted)

    async def _attempt(self, leased: LeasedServer, mail: Mail) -> partial[bool]:
        """Try to send a mail; return the use case that records the result, or raise `MailServerUnusable`."""
        try:
            rendered = self._renderer.render(mail.message, mail.brand)
            with trio.fail_after(SEND_SECONDS_MAX):
                await self._gateway.send(leased.organization_id, leased.server, mail.id, mail.message.to, rendered)
        except MailRefused as refused:
            self._count(MailOutcome.FAILED)
            log.warning("routed_mail.refused", **_described(leased, mail), reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailServerUnusable:
            raise
        except MailDeferred as deferred:
            is_last = mail.attempts >= mails.ATTEMPTS_MAX
            self._count(MailOutcome.FAILED if is_last else MailOutcome.DEFERRED)
            times = self._deferrals.count(trio.current_time(), (leased.organization_id, is_last))
            if times is not None:
                log.warning("routed_mail.deferred", **_described(leased, mail), reason=str(deferred), times=times)
            return partial(mails.record_deferred, mail=mail, error=str(deferred))
        except trio.TooSlowError:
            raise MailServerUnusable(
                f"The mail server did not take the mail within {SEND_SECONDS_MAX:.0f} seconds."
            ) from None
        self._count(MailOutcome.SENT)
        log.info("routed_mail.sent", **_described(leased, mail))
        return partial(mails.record_sent, mail=mail)

    def _count(self, outcome: MailOutcome) -> None:
        self._metrics.mail_attempted(MailServerKind.ORGANIZATION, outcome)


def _described(leased: LeasedServer, mail: Mail | None = None) -> dict[str, object]:
    """Return the log fields that identify a server, and a mail without its recipient."""
    described: dict[str, object] = {"organization_id": str(leased.organization_id)}
    if mail is not None:
        described |= {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
    return described
