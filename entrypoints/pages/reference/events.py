"""The page of the event types: what webhooks, the feed and the audit log name, with what happened."""

from typing import Annotated, Final

from core.events.actions import AuditAction
from core.events.events import EventType
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.web.serving.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.documents import Document, generated_once
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("reference", "This reference, for people and for programs.", refusal_page)

EVENTS: Final = "/docs/events"


@routes.get(EVENTS)
@public
async def list_event_types(call: Call) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show all event types, with what happened."""
    document = await generated_once(call, _write)
    return protected(document.response(call), connects=True)


def _write(_routes: tuple[Route, ...], installation: Installation) -> Document:
    html = render(
        "reference/events.html",
        version=installation.version,
        event_types=list(EventType),
        recorded={action.value for action in AuditAction},
    )
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")
