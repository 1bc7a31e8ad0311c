"""The embedded mailbox of development mode: the mails that would have been sent, for developers.

It shows sign-in links to every caller, so it exists in development mode only.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from quart import Response

from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import Mail
from entrypoints.pages.frame.rendering import HTML, Page, page
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import JSON
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("mailbox", "The mail that would have been sent, in development mode without a mail server.")

MAILS_MAX: Final = 100
# A mail has inline styles; it runs and submits nothing, and loads our own pictures alone, which are the logos of
# brands. Only the mailbox may frame it, and links open in a new tab. Browsers follow `frame-ancestors` instead of the
# X-Frame-Options that every response carries.
MAIL_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'; sandbox allow-popups allow-popups-to-escape-sandbox"
)
MAILBOX_SECURITY_POLICY_ADDITION: Final = "; frame-src 'self'"

# A web address ends before a space, a quotation mark or an angle bracket, and before the full stop of its sentence.
_WEB_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]")


class MailboxMessage(msgspec.Struct, kw_only=True, frozen=True):
    """A mail as its recipient would have received it."""

    id: UUID
    to: str
    subject: str
    text: str
    html: str
    language: str
    created_at: datetime


class Mailbox(msgspec.Struct, kw_only=True, frozen=True):
    """The mails, newest first."""

    messages: list[MailboxMessage]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and whether it is a web address."""

    text: str
    is_address: bool


@routes.get("/dev/mailbox", lists_secrets=True)
@public
async def read(call: Call) -> Mailbox | Page:
    """Show the latest mails, newest first, as a page, or as JSON when the request accepts `application/json`."""
    messages = [_message(call, mail_message) for mail_message in await call.read(mail.latest, MAILS_MAX)]
    call.vary("Accept")
    if call.request.accept_mimetypes.best_match([HTML, JSON], default=HTML) == JSON:
        return Mailbox(messages=messages)
    response = page(
        call, "mail/mailbox.html", mails=[(message, pieces(message.text)) for message in messages], maximum=MAILS_MAX
    )
    response.headers["Content-Security-Policy"] += MAILBOX_SECURITY_POLICY_ADDITION
    return response


@routes.get("/dev/mailbox/:message_id", lists_secrets=True)
@public
async def mail_message(call: Call, message_id: UUID) -> Page:
    """Show the HTML part of a mail, as a mail program does."""
    found = next((one for one in await call.read(mail.latest, MAILS_MAX) if one.id == message_id), None)
    if found is None:
        raise NotFound
    response = Response(_message(call, found).html, content_type=f"{HTML}; charset=utf-8")
    response.headers["Content-Security-Policy"] = MAIL_SECURITY_POLICY
    return response


def pieces(text: str) -> list[Piece]:
    """Split a text at its web addresses, so that a page can link them and nothing else."""
    return list(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in _WEB_ADDRESS.finditer(text):
        yield Piece(text[end : match.start()], is_address=False)
        yield Piece(match[0], is_address=True)
        end = match.end()
    yield Piece(text[end:], is_address=False)


def _message(call: Call, mail_message: Mail) -> MailboxMessage:
    rendered = call.installation.mail_renderer.render(mail_message.message, mail_message.brand)
    return MailboxMessage(
        id=mail_message.id,
        to=mail_message.message.to,
        subject=rendered.subject,
        text=rendered.text,
        html=rendered.html,
        language=rendered.language,
        created_at=mail_message.created_at,
    )
