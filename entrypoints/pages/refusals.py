"""A refusal as a page: what did not work, and what to do next, for whoever came by a link or a form.

Every message of a refusal begins with a sentence that says what is the matter; that is the heading. Programs that ask
for JSON are told as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.accounts.links import LinkUnusable
from core.errors import BadRequest, Refusal
from entrypoints.pages.rendering import HTML, page
from entrypoints.web.answers import JSON, refused

if TYPE_CHECKING:
    from quart import Response

    from entrypoints.web.calls import Call

_OUR_FAULT: Final = 500


def prefers_json(call: Call) -> bool:
    """Say whether the request asks for JSON rather than for a page."""
    return call.request.accept_mimetypes.best_match([HTML, JSON], default=HTML) == JSON


def refusal_page(call: Call, refusal: Refusal) -> Response:
    """Show a person what did not work; for `Routes` whose answers are pages."""
    answer = refused(refusal, request_id=call.request_id)
    if prefers_json(call):
        return answer
    heading, _, explanation = _words(refusal).partition(". ")
    shown = page(
        call,
        "message.html",
        status=answer.status_code,
        heading=heading.removesuffix("."),
        text=explanation,
        back=None,
        request_id=call.request_id if answer.status_code >= _OUR_FAULT else None,
    )
    if "Retry-After" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["Retry-After"]
    return shown


def _words(refusal: Refusal) -> str:
    # The fields of a link or a form are not written by hand: whatever is wrong with one, the link was mangled.
    is_mangled = isinstance(refusal, BadRequest) and refusal.details
    return LinkUnusable.default_message if is_mangled else refusal.message
