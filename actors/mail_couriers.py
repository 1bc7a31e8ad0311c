"""Sends queued mails: the platform's, a few at once, and those of organizations through their own mail servers.

A mail is claimed in one transaction, sent outside any, and its result recorded in another. A crash in between leaves a
lease that expires, so a mail may be sent twice but is never lost; its message id stays the same, so a mail server can
detect the duplicate. A server of an organization is leased with its due mails, which leave one after the other. It has
one place, whatever waits for it, and a failure of the server ends its lease at once, so a dead server delays no other
organization. `core/mail/mail.py` and `routed_mail.py` beside it decide how often and when a mail is retried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar, Unpack
from uuid import UUID

import structlog
import trio

from actors.dispatching import Capacity, Connections, Dispatcher
from actors.periods import PeriodicActor
from core.mail import mail as mails
from core.mail import routed_mail
from core.mail.mail import ATTEMPTS_MAX, Mail, MailDeferred, MailRefused, MailServerUnusable, RenderedMail
from core.mail.routed_mail import LeasedServer
from core.organizations.settings import smtp as settings
from core.spaced_reports import SpacedReports
from ports.mailboxes import WorkKind
from ports.metrics_of_work import MailOutcome, MailServerKind

if TYPE_CHECKING:
    from ports.mail.mail import MailGateway, MailRenderer, RoutingGateway
    from ports.unit_of_work import UnitOfWork

# One slow delivery occupies one place and leaves the others free.
MAILS_AT_ONCE_MAX: Final = 4
SERVERS_AT_ONCE_MAX: Final = 16
# Few enough that all are attempted before the lease ends, each within its time.
MAILS_OF_LEASE_MAX: Final = 8
SEND_SECONDS_MAX: Final = 30.0
# A claim costs as much as a third of a registration.
REST_SECONDS: Final = 0.1
OLD_MAILS_AT_ONCE_MAX: Final = 500

Target = TypeVar("Target")
Record = partial[bool]

log = structlog.get_logger(__name__)


class _Courier(Dispatcher[Target]):
    """What both couriers do with one mail."""

    # Whose mail server it is, in the metrics.
    server_kind: ClassVar[MailServerKind]
    # For mails whose message was lost, that another replica queued, or whose retry is due.
    period_seconds = 10.0

    def __init__(self, *, renderer: MailRenderer, **connections: Unpack[Connections]) -> None:
        super().__init__(**connections)
        self._renderer = renderer
        self._deferrals = SpacedReports()

    async def _sent(
        self, mail: Mail, send: Callable[[RenderedMail], Awaitable[object]], organization_id: UUID | None = None
    ) -> Record:
        """Try to send a mail; return the use case that records the result, or raise `MailServerUnusable`."""
        described = _described(mail, organization_id)
        try:
            rendered = self._renderer.render(mail.message, mail.brand)
            with trio.fail_after(SEND_SECONDS_MAX):
                await send(rendered)
        except MailRefused as refused:
            self._count(MailOutcome.FAILED)
            log.warning(f"{self.subject}.refused", **described, reason=str(refused))
            return partial(mails.record_failed, mail=mail, error=str(refused))
        except MailServerUnusable:
            raise
        except MailDeferred as deferred:
            return self._deferred(mail, str(deferred), organization_id)
        except trio.TooSlowError:
            raise MailServerUnusable(
                f"The mail server did not take the mail within {SEND_SECONDS_MAX:.0f} seconds."
            ) from None
        self._count(MailOutcome.SENT)
        log.info(f"{self.subject}.sent", **described)
        return partial(mails.record_sent, mail=mail)

    def _deferred(self, mail: Mail, reason: str, organization_id: UUID | None = None) -> Record:
        is_last = mail.attempts >= ATTEMPTS_MAX
        self._count(MailOutcome.FAILED if is_last else MailOutcome.DEFERRED)
        # A mail server that is away defers every mail; each has its reason in the outbox.
        if (times := self._deferrals.count(trio.current_time(), (organization_id, is_last))) is not None:
            described = _described(mail, organization_id)
            log.warning(f"{self.subject}.deferred", **described, reason=reason, times=times)
        return partial(mails.record_deferred, mail=mail, error=reason)

    def _count(self, outcome: MailOutcome) -> None:
        self._metrics.mail_attempted(self.server_kind, outcome)


class MailCourier(_Courier[Mail]):
    """An actor that drains; without a gateway it keeps every mail for the embedded mailbox."""

    job_type = "mail"
    subject = "mail"
    work_kind = WorkKind.MAIL
    server_kind = MailServerKind.PLATFORM
    rest_seconds = REST_SECONDS
    capacity = Capacity(targets_max=MAILS_AT_ONCE_MAX)

    def __init__(
        self, *, renderer: MailRenderer, gateway: MailGateway | None, **connections: Unpack[Connections]
    ) -> None:
        super().__init__(renderer=renderer, **connections)
        self._gateway = gateway

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

    async def _send(self, mail: Mail) -> Record:
        """Try to send a mail; return the use case that records the result."""
        if self._gateway is None:
            self._count(MailOutcome.KEPT)
            return partial(mails.record_kept, mail=mail)
        try:
            return await self._sent(mail, partial(self._gateway.send, mail.id, mail.message.to))
        except MailServerUnusable as unusable:
            return self._deferred(mail, str(unusable))


class RoutedMailCourier(_Courier[LeasedServer]):
    """An actor that drains: it finishes the mail in flight to each server and leases no more."""

    job_type = "routed_mail"
    subject = "routed_mail"
    work_kind = WorkKind.ROUTED_MAIL
    server_kind = MailServerKind.ORGANIZATION
    capacity = Capacity(targets_max=SERVERS_AT_ONCE_MAX, items_max=MAILS_OF_LEASE_MAX)

    def __init__(self, *, renderer: MailRenderer, gateway: RoutingGateway, **connections: Unpack[Connections]) -> None:
        super().__init__(renderer=renderer, **connections)
        self._gateway = gateway

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedServer]:
        return routed_mail.lease(uow, free.targets_max, free.items_max)

    def identity(self, target: LeasedServer) -> UUID:
        return target.organization_id

    async def serve(self, target: LeasedServer) -> bool:
        await self._recorded(await self._send_all(target))
        return len(target.mails) == MAILS_OF_LEASE_MAX

    async def _send_all(self, leased: LeasedServer) -> Callable[[UnitOfWork], object]:
        """Attempt the mails of a lease in their order; return the use case that ends the lease."""
        organization_id, has_accepted = leased.organization_id, False
        for position, mail in enumerate(leased.mails):
            if self.box.is_draining:
                return partial(routed_mail.return_unsent, leased=leased, unsent=leased.mails[position:])
            send = partial(self._gateway.send, organization_id, leased.server, mail.id, mail.message.to)
            try:
                with self._measured():
                    record = await self._sent(mail, send, organization_id)
                    await self._recorded(record)
            except MailServerUnusable as unusable:
                self._count(MailOutcome.DEFERRED)
                log.warning("routed_mail.server_failed", organization_id=str(organization_id), reason=str(unusable))
                unsent = leased.mails[position:]
                return partial(settings.record_failure, leased=leased, error=str(unusable), unsent=unsent)
            has_accepted = has_accepted or record.func is mails.record_sent
        return partial(routed_mail.release, leased=leased, has_accepted=has_accepted)


class OldMails(PeriodicActor):
    """Deletes mails that were finished long ago, and lets those expire that have waited too long for their server.

    An actor; mails that it has not reached remain for the next period. The process that polls does it.
    """

    job_type = "old_mails"
    period_seconds = 3600.0
    in_turn = True

    async def work(self) -> None:
        if deleted := await self._in_batches(mails.delete_old, OLD_MAILS_AT_ONCE_MAX, full=OLD_MAILS_AT_ONCE_MAX):
            log.info("mail.deleted", mails=deleted)
        if expired := await self._in_batches(routed_mail.expire, OLD_MAILS_AT_ONCE_MAX, full=OLD_MAILS_AT_ONCE_MAX):
            log.info("routed_mail.expired", mails=expired)


def _described(mail: Mail, organization_id: UUID | None = None) -> dict[str, object]:
    """Return the log fields that identify a mail, and the organization whose server it is, without its recipient."""
    of_organization = {} if organization_id is None else {"organization_id": str(organization_id)}
    named = {"mail_id": str(mail.id), "template": mail.message.template.value, "attempt": mail.attempts}
    return {**of_organization, **named}
