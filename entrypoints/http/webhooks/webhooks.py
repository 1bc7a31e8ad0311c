"""Webhooks of an organization: where its events are sent."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.events.events import EventType, EventTypeItem
from core.organizations.access import Operation
from core.webhooks import deliveries, webhooks
from core.webhooks.webhooks import (
    TooManyWebhooks,
    Webhook,
    WebhookChanges,
    WebhookNameTaken,
    WebhookUnknown,
    WebhookWithSecret,
)
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Empty, Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "webhooks",
    "Where an organization's events are sent. Each delivery is signed by the webhook's secret as Standard Webhooks"
    " prescribe, attempted up to five times, and kept for 90 days with what the receiver answered.",
)


class WebhookCreation(msgspec.Struct, kw_only=True):
    """A new webhook: its name, the URL of the receiver, and the event types to send."""

    name: str
    url: str
    events: list[str]


class WebhookUpdate(Input, of=WebhookChanges):
    """The fields to change; omitted fields keep their values."""


class WebhookList(msgspec.Struct, kw_only=True):
    """All webhooks of the organization, the oldest first."""

    webhooks: list[Webhook]
    total: int


class CreatedWebhook(Record, SecretBody, of=Webhook):
    """The new webhook with its secret, which is shown only once."""

    secret: str


class QueuedDelivery(msgspec.Struct, kw_only=True):
    """The delivery that was queued."""

    delivery_id: UUID


class TestedEvent(Query, kw_only=True):
    """As an event of which type the test is sent."""

    event_type: EventType = EventType.WEBHOOK_TEST


class FailedDeliveriesQueueing(msgspec.Struct, kw_only=True):
    """The moment since which failed deliveries are sent again."""

    since: Annotated[datetime, msgspec.Meta(tz=True)]


class QueuedDeliveries(msgspec.Struct, kw_only=True):
    """How many deliveries were queued again."""

    queued: int


@routes.get("/api/organizations/:org_slug/webhooks/event-types")
@in_organization(Operation.WEBHOOKS_READ)
async def list_event_types(call: Call, org_slug: str) -> list[EventTypeItem]:
    """List the event types that a webhook can subscribe to."""
    return list(await call.read(webhooks.event_types, org_slug))


@routes.post("/api/organizations/:org_slug/webhooks", refuses=(WebhookNameTaken, TooManyWebhooks))
@in_organization(Operation.WEBHOOK_CONFIGURE)
async def create_webhook(call: Call, org_slug: str, body: WebhookCreation) -> CreatedWebhook:
    """Create a webhook. Keep its secret: it verifies the deliveries, and is shown only once."""
    return _shown(
        await call.transact(
            webhooks.create,
            org_slug,
            name=body.name,
            url=body.url,
            events=body.events,
            allowed=call.installation.settings.outbound_allowed,
        )
    )


@routes.get("/api/organizations/:org_slug/webhooks")
@in_organization(Operation.WEBHOOKS_READ)
async def list_webhooks(call: Call, org_slug: str) -> WebhookList:
    """List the webhooks, the oldest first."""
    found = list(await call.read(webhooks.list_all, org_slug))
    return WebhookList(webhooks=found, total=len(found))


@routes.get("/api/organizations/:org_slug/webhooks/:webhook_id", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_READ)
async def show_webhook(call: Call, org_slug: str, webhook_id: UUID) -> Webhook:
    """Show a webhook."""
    return await call.read(webhooks.show, org_slug, webhook_id)


@routes.patch("/api/organizations/:org_slug/webhooks/:webhook_id", refuses=(WebhookUnknown, WebhookNameTaken))
@in_organization(Operation.WEBHOOK_CONFIGURE)
async def change_webhook(call: Call, org_slug: str, webhook_id: UUID, body: WebhookUpdate) -> Webhook:
    """Change a webhook. An inactive one receives nothing."""
    return await call.transact(
        webhooks.change,
        org_slug,
        webhook_id,
        body.to(WebhookChanges),
        allowed=call.installation.settings.outbound_allowed,
    )


@routes.post("/api/organizations/:org_slug/webhooks/:webhook_id/rotate-secret", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOK_CONFIGURE)
async def rotate_secret(call: Call, org_slug: str, webhook_id: UUID) -> CreatedWebhook:
    """Give a webhook a new secret. For 24 hours deliveries carry a signature by each of the two secrets."""
    return _shown(await call.transact(webhooks.rotate_secret, org_slug, webhook_id))


@routes.delete("/api/organizations/:org_slug/webhooks/:webhook_id", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_CHANGE)
async def delete_webhook(call: Call, org_slug: str, webhook_id: UUID) -> Empty:
    """Delete a webhook and the history of its deliveries."""
    await call.transact(webhooks.delete, org_slug, webhook_id)
    return Empty()


def _shown(created: WebhookWithSecret) -> CreatedWebhook:
    return CreatedWebhook.of(created.webhook, secret=created.secret.reveal())


@routes.post("/api/organizations/:org_slug/webhooks/:webhook_id/test", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_CHANGE)
async def test_webhook(call: Call, org_slug: str, webhook_id: UUID, query: TestedEvent) -> QueuedDelivery:
    """Send a test to this webhook alone; its result is in the list of deliveries.

    It is a `webhook.test` event, or one of the type in `event_type`, whose `data` have `is_test: true`.
    """
    return QueuedDelivery(delivery_id=await call.transact(deliveries.test, org_slug, webhook_id, query.event_type))


@routes.post("/api/organizations/:org_slug/webhooks/:webhook_id/redeliver-failed", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_CHANGE)
async def redeliver_failed(
    call: Call, org_slug: str, webhook_id: UUID, body: FailedDeliveriesQueueing
) -> QueuedDeliveries:
    """Send again what has failed for good since a moment, at most 10,000 deliveries; the oldest first."""
    return QueuedDeliveries(
        queued=await call.transact(deliveries.redeliver_failed, org_slug, webhook_id, since=body.since)
    )
