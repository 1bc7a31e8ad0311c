"""A refusal as a page: what did not work, and what to do next, for people who followed a link or sent a form.

The first sentence of a refusal's message states the problem; it is the heading.
Programs that request JSON get the usual body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.accounts.links import LinkUnusable
from core.accounts.passwords import NoPasswordSet, PasswordAlreadySet
from core.credentials.mfa import MfaNotSetUp, SetupCodeWrong
from core.errors import BadRequest, MethodNotAllowed, NoSuchPath, Refusal
from core.openid.requests import RequestRefused
from core.saml.messages import MessageRefused
from entrypoints.pages.languages import language_of, marked
from entrypoints.pages.rendering import HTML, page
from entrypoints.web.serving.answers import JSON, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quart import Response

    from entrypoints.web.serving.calls import Call

_SERVER_ERROR_MIN: Final = 500
# What the button of the page says, and where it leads.
_NEXT: Final = {
    401: (marked("Sign in"), "/app/sign-in"),
    403: (marked("Continue"), "/app"),
    404: (marked("Continue"), "/app"),
    405: (marked("Continue"), "/app"),
}
# In place of messages that name a path of the interface.
ON_PAGES: Final[Mapping[type[Refusal], str]] = {
    MethodNotAllowed: marked("This address is not a page. Go back to the page that you came from, and use its button."),
    NoSuchPath: marked("There is no page at this address. Check the address, or open your account and begin there."),
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
    # Nobody types the fields of a link or a form: when one is invalid, the link was damaged.
    words = LinkUnusable.default_message if _has_invalid_fields(refusal) else message_on_page(refusal)
    return _explained(call, refusal, words, refusal.problem if isinstance(refusal, MessageRefused) else None)


def protocol_refusal_page(call: Call, refusal: Refusal) -> Response:
    """Return the same for `Routes` to which applications send browsers.

    Only the makers of the application can mend a parameter, so the page names it for them.
    """
    if _has_invalid_fields(refusal):
        return _explained(call, refusal, RequestRefused.default_message, refusal.message)
    return refusal_page(call, refusal)


def _explained(call: Call, refusal: Refusal, words: str, details: str | None) -> Response:
    installation = call.installation
    answer = refused(
        refusal, request_id=call.request_id, at=installation.clock(), base_url=installation.settings.base_url
    )
    if prefers_json(call):
        return answer
    language = language_of(call)
    heading, _, explanation = language.known(words).partition(". ")
    shown = page(
        call,
        "message.html",
        status=answer.status_code,
        heading=heading.removesuffix("."),
        text=explanation,
        back=None,
        next=_NEXT.get(answer.status_code),
        details=language.known(details or ""),
        request_id=call.request_id if answer.status_code >= _SERVER_ERROR_MIN else None,
    )
    if "Retry-After" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["Retry-After"]
    return shown


def message_on_page(refusal: Refusal) -> str:
    """Return what a page says of a refusal, in English."""
    return ON_PAGES.get(type(refusal), refusal.message)


def problem_of(refusal: Refusal | None) -> str:
    """Return what a page shows of a refusal: of an invalid field its problem, without the field's name."""
    if isinstance(refusal, BadRequest) and refusal.details:
        return refusal.details[0].message
    return message_on_page(refusal) if refusal is not None else ""


def _has_invalid_fields(refusal: Refusal) -> bool:
    return isinstance(refusal, BadRequest) and bool(refusal.details)
