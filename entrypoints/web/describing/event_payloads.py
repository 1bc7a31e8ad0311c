"""What receivers get of events: the payload of each type, its example, and the `webhooks` of the OpenAPI document."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from core.events.data import EventData, keys_of
from core.events.declared_data import DATA
from core.events.events import EventType
from core.events.organization_data import (
    AuditLogExportedData,
    ConnectionData,
    OrganizationUpdatedData,
    ScimTokenData,
    SiemConfiguredData,
    WebhookRedeliveredData,
)
from core.events.people_data import SignupSuccessData, UserRemovedData, UserUpdatedData
from core.events.service_data import (
    ApiKeyData,
    CustomerData,
    ProductAccessData,
    ServiceUpdatedData,
    SubscriptionCanceledData,
    WorkloadData,
)
from entrypoints.web.describing.examples import answer_example
from entrypoints.web.describing.schemas import Schema, Schemas
from entrypoints.web.serving.answering.answers import JSON

# Beside what is always there, what an example of these has.
_ALSO_SHOWN: Final[Mapping[type[EventData], tuple[str, ...]]] = {
    ApiKeyData: ("expires_at",),
    AuditLogExportedData: ("sealed_through",),
    ConnectionData: ("joins_as", "trust_mfa"),
    CustomerData: ("organization_name",),
    OrganizationUpdatedData: ("changes",),
    ProductAccessData: ("by",),
    ScimTokenData: ("groups",),
    ServiceUpdatedData: ("service_id", "service_name", "service_type", "client_id", "changes"),
    SiemConfiguredData: ("enabled", "include"),
    SignupSuccessData: ("provider", "service_id"),
    SubscriptionCanceledData: (
        *("service_id", "user_id", "user_email", "plan_id", "plan_name"),
        *("status", "changes"),
    ),
    UserRemovedData: ("role",),
    UserUpdatedData: ("user_id", "user_email"),
    WebhookRedeliveredData: ("since",),
    WorkloadData: ("issuer", "audience", "match", "service_id", "service_slug"),
}


class EventPayload(msgspec.Struct, kw_only=True):
    """An event, as a webhook and the feed have it. What its `data` are depends on its type."""

    id: UUID
    event: EventType
    timestamp: datetime
    organization_id: UUID | None
    actor_user_id: UUID | None
    actor_email: str | None
    data: dict[str, Any]


def shapes() -> list[Any]:
    """List the types of which payloads are."""
    return [EventPayload, *dict.fromkeys(DATA.values())]


def example_of(schemas: Schemas, event: EventType) -> dict[str, Any]:
    """Return the payload of an event of that type, as a receiver may get it."""
    data = DATA[event]
    shown = {key.name for key in keys_of(data) if key.is_always_there} | set(_ALSO_SHOWN.get(data, ()))
    whole = answer_example(schemas, schemas.of(data))
    payload = answer_example(schemas, schemas.of(EventPayload))
    return payload | {"event": event.value, "data": {name: value for name, value in whole.items() if name in shown}}


def described_webhooks(schemas: Schemas) -> dict[str, Any]:
    """Return what each type of event delivers, for `webhooks` of the document."""
    return {event.value: {"post": _described(schemas, event)} for event in EventType}


def _described(schemas: Schemas, event: EventType) -> dict[str, Any]:
    return {
        "operationId": f"receive_{event.value.replace('.', '_')}",
        "tags": ["webhooks"],
        "summary": event.label,
        "description": event.description,
        "security": [],
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": _schema(schemas, event), "example": example_of(schemas, event)}},
        },
        "responses": {
            "2XX": {"description": "The event was received."},
            "410": {"description": "The webhook is not wanted any more, and is switched off."},
        },
    }


def _schema(schemas: Schemas, event: EventType) -> Schema:
    of_type = {"event": {"const": event.value}, "data": schemas.of(DATA[event])}
    return {"allOf": [schemas.of(EventPayload), {"type": "object", "properties": of_type}]}
