"""The page of the event types: what webhooks, the feed and the audit log name, with the data of each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from core.events.actions import AuditAction
from core.events.data import EventData
from core.events.declared_data import DATA
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.pages.reference.field_rows import FieldRow, field_rows
from entrypoints.web.describing import event_payloads
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.answering.documents import Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("reference", "This reference, for people and for programs.", refusal_page)

EVENTS: Final = "/docs/events"
_RECORDED: Final = {action.event for action in AuditAction}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """An event type as the page shows it: whether the audit log records it, the keys of its data, and an example."""

    event: EventType
    is_recorded: bool
    about: str
    fields: Sequence[FieldRow]
    example: str


@routes.get(EVENTS)
@public
async def list_event_types(call: Call) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show all event types, with what happened and the data of each."""
    document = await generated_once(call, _write)
    return protected(document.response(call), connects=True)


def _write(_routes: tuple[Route, ...], installation: Installation) -> Document:
    schemas = Schemas((), delivered=[*event_payloads.shapes(), EventData])
    html = render(
        "reference/events.html",
        version=installation.version,
        payload=[
            replace(row, takes="one of the types below") if row.name == "event" else row
            for row in field_rows(schemas, schemas.of(event_payloads.EventPayload))
        ],
        # The keys that the data of every type may have are shown once.
        common=_rows(schemas, EventData),
        views=[_view(schemas, event) for event in EventType],
    )
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


def _view(schemas: Schemas, event: EventType) -> EventView:
    data, common = DATA[event], {row.name for row in _rows(schemas, EventData)}
    return EventView(
        event=event,
        is_recorded=event in _RECORDED,
        about=data.__doc__ or "",
        fields=[row for row in _rows(schemas, data) if row.name not in common],
        example=json.dumps(event_payloads.example_of(schemas, event), indent=2, ensure_ascii=False),
    )


def _rows(schemas: Schemas, data: type[EventData]) -> list[FieldRow]:
    return field_rows(schemas, schemas.of(data))
