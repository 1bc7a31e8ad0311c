"""A refusal as a page: what did not work, and what to do next, for people who followed a link or sent a form.

The first sentence of a refusal's message states the problem; it is the heading. A message without values is translated.
Programs that request JSON get the usual body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.accounts.links import LinkUnusable
from core.accounts.passwords import NoPasswordSet, PasswordAlreadySet
from core.credentials.mfa import MfaNotSetUp, SetupCodeWrong
from core.errors import BadRequest, Refusal
from core.saml.messages import MessageRefused
from entrypoints.pages.languages import language_of, marked
from entrypoints.pages.rendering import HTML, page
from entrypoints.web.answers import JSON, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quart import Response

    from entrypoints.web.calls import Call

_SERVER_ERROR_MIN: Final = 500
# What the button of the page says, and where it leads.
_NEXT: Final = {401: (marked("Sign in"), "/app/sign-in"), 403: (marked("Continue"), "/app")}
# In place of messages that name a path of the interface.
ON_PAGES: Final[Mapping[type[Refusal], str]] = {
    MfaNotSetUp: marked("There is no app to turn on. Set up an app first."),
    MessageRefused: MessageRefused.default_message,
    NoPasswordSet: marked("Your account has no password yet. Load this page again to set one."),
    PasswordAlreadySet: marked("Your account has a password by now. Load this page again to change it."),
    SetupCodeWrong: marked(
        "This code is wrong. Wait for the next one and try again. If that fails too, check that the clock of your"
        " device is set automatically, or begin again."
    ),
}


def prefers_json(call: Call) -> bool:
    """Whether the request prefers JSON to a page."""
    return call.request.accept_mimetypes.best_match([HTML, JSON], default=HTML) == JSON


def refusal_page(call: Call, refusal: Refusal) -> Response:
    """Return the page that explains a refusal; for `Routes` whose answers are pages."""
    installation = call.installation
    answer = refused(
        refusal, request_id=call.request_id, at=installation.clock(), base_url=installation.settings.base_url
    )
    if prefers_json(call):
        return answer
    heading, _, explanation = language_of(call).known(_words(refusal)).partition(". ")
    shown = page(
        call,
        "message.html",
        status=answer.status_code,
        heading=heading.removesuffix("."),
        text=explanation,
        back=None,
        next=_NEXT.get(answer.status_code),
        details=refusal.problem if isinstance(refusal, MessageRefused) else None,
        request_id=call.request_id if answer.status_code >= _SERVER_ERROR_MIN else None,
    )
    if "Retry-After" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["Retry-After"]
    return shown


def message_on_page(refusal: Refusal) -> str:
    """Return what a page says of a refusal, in English."""
    return ON_PAGES.get(type(refusal), refusal.message)


def _words(refusal: Refusal) -> str:
    # Nobody types the fields of a link or a form: when one is invalid, the link was damaged.
    is_damaged = isinstance(refusal, BadRequest) and refusal.details
    return LinkUnusable.default_message if is_damaged else message_on_page(refusal)
