"""The outbox of the platform: mails and their states, without their contents."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.errors import Forbidden
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import mails
from core.platform.mails import (
    ListedMailState,
    MailContentGone,
    MailKept,
    MailNotWaiting,
    MailUnknown,
    OutboxFilter,
    OutboxMail,
)
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "platform mails", "The mails of the whole platform without their contents, for platform owners and support."
)


class MailsQuery(Paged, kw_only=True):
    """Filters: a state, and the address of the recipient."""

    state: ListedMailState | None = None
    email: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)] | None = None


class OutboxMailList(msgspec.Struct, kw_only=True):
    """A page of mails, the newest first, and how many there are; 10,001 stands for more than 10,000."""

    mails: list[OutboxMail]
    total: int


class RetriedMail(msgspec.Struct, kw_only=True):
    """The mail that is sent again."""

    mail: OutboxMail


@routes.get("/api/platform/mails", refuses=(Forbidden,))
@platform_support
async def list_mails(call: Call, query: MailsQuery) -> OutboxMailList:
    """List mails with their states, the newest first; they are kept for seven days.

    What a mail says is not shown. `email` is the whole address of the recipient.
    """
    wanted = OutboxFilter(state=query.state, email=query.email)
    page = await call.transact(mails.list_page, wanted, page=query.page, limit=query.limit)
    return OutboxMailList(mails=list(page.mails), total=page.total)


@routes.post(
    "/api/platform/mails/:mail_id/retry", refuses=(Forbidden, MailUnknown, MailKept, MailContentGone, MailNotWaiting)
)
@platform_support
async def retry_mail(call: Call, mail_id: UUID) -> RetriedMail:
    """Send a mail that has failed, or that waits for its next attempt, at once.

    A mail whose link has expired is refused, and one that is kept because no mail server was set; its reader requests a
    new one. The platform's audit log records it.
    """
    return RetriedMail(mail=await call.transact(mails.retry, mail_id))
