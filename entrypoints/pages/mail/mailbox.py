"""The embedded mailbox, in development mode: what would have gone out by mail, for whoever builds against the house.

It shows letters that sign people in to anybody who asks, so it is no part of a house that is not in development mode.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from quart import Response

from core.errors import NotFound
from core.mail import mail
from core.mail.mail import Mail
from entrypoints.pages.rendering import HTML, Page, page
from entrypoints.web.answers import JSON
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("mailbox", "The mail that would have been sent, in development mode without a mail server.")

LETTERS_MAX: Final = 100
# The letter brings its own styles; it loads nothing, runs nothing, sends nothing, and only our page may frame it. Links
# open beside the mailbox. Browsers heed `frame-ancestors` instead of the X-Frame-Options that every response carries.
LETTER_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'; sandbox allow-popups allow-popups-to-escape-sandbox"
)
MAILBOX_SECURITY_POLICY_ADDITION: Final = "; frame-src 'self'"

# A web address ends before a blank, a quotation mark or an angle bracket, and before the full stop of its sentence.
_WEB_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]")


class MailboxMessage(msgspec.Struct, kw_only=True, frozen=True):
    """A letter as its reader would have received it."""

    id: UUID
    to: str
    subject: str
    text: str
    html: str
    created_at: datetime


class Messages(msgspec.Struct, kw_only=True, frozen=True):
    """The letters, newest first."""

    messages: list[MailboxMessage]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and whether it is a web address."""

    text: str
    is_address: bool


@routes.get("/dev/mailbox")
@public
async def read(call: Call) -> Messages | Page:
    """Show the latest letters, newest first: as a page, or as JSON to who asks for `application/json`."""
    messages = [_message(call, mail_message) for mail_message in await call.read(mail.latest, LETTERS_MAX)]
    call.headers["Vary"] = "Accept"
    if call.request.accept_mimetypes.best_match([HTML, JSON], default=HTML) == JSON:
        return Messages(messages=messages)
    response = page(
        call, "mailbox.html", mails=[(message, pieces(message.text)) for message in messages], maximum=LETTERS_MAX
    )
    response.headers["Content-Security-Policy"] += MAILBOX_SECURITY_POLICY_ADDITION
    return response


@routes.get("/dev/mailbox/:message_id")
@public
async def mail_message(call: Call, message_id: UUID) -> Page:
    """Show the HTML part of a letter, as a mail program would."""
    found = next((one for one in await call.read(mail.latest, LETTERS_MAX) if one.id == message_id), None)
    if found is None:
        raise NotFound
    response = Response(_message(call, found).html, content_type=f"{HTML}; charset=utf-8")
    response.headers["Content-Security-Policy"] = LETTER_SECURITY_POLICY
    return response


def pieces(text: str) -> list[Piece]:
    """Cut a text at its web addresses, so that a page can make links of them and of nothing else."""
    return list(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in _WEB_ADDRESS.finditer(text):
        yield Piece(text[end : match.start()], is_address=False)
        yield Piece(match[0], is_address=True)
        end = match.end()
    yield Piece(text[end:], is_address=False)


def _message(call: Call, mail_message: Mail) -> MailboxMessage:
    rendered = call.installation.mail_renderer.render(mail_message.message)
    return MailboxMessage(
        id=mail_message.id,
        to=mail_message.message.to,
        subject=rendered.subject,
        text=rendered.text,
        html=rendered.html,
        created_at=mail_message.created_at,
    )
