"""Deliveries of a webhook: what was sent, what came back, and sending again."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.events.events import EventType
from core.organizations.access import Operation
from core.webhooks import deliveries
from core.webhooks.deliveries import DeliveriesPage, DeliveryFilter, DeliveryUnknown
from core.webhooks.webhooks import WebhookUnknown
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization
from entrypoints.web.decoding import Paged
from entrypoints.web.routes import Routes

routes = Routes("webhooks", "")


class DeliveriesQuery(Paged, kw_only=True):
    """Filters: an event type, and whether the delivery has arrived."""

    event_type: EventType | None = None
    delivered: bool | None = None


class QueuedDelivery(msgspec.Struct, kw_only=True):
    """The delivery that was queued."""

    delivery_id: UUID


class FailedSince(msgspec.Struct, kw_only=True):
    """The moment since which failed deliveries are sent again."""

    since: Annotated[datetime, msgspec.Meta(tz=True)]


class QueuedDeliveries(msgspec.Struct, kw_only=True):
    """How many deliveries were queued again."""

    queued: int


@routes.get("/api/organizations/:org_slug/webhooks/:webhook_id/deliveries", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_READ)
async def list_deliveries(call: Call, org_slug: str, webhook_id: UUID, query: DeliveriesQuery) -> DeliveriesPage:
    """List the deliveries, newest first, each with what the last attempt got."""
    wanted = DeliveryFilter(event_type=query.event_type, delivered=query.delivered)
    return await call.read(deliveries.list_page, org_slug, webhook_id, wanted, page=query.page, limit=query.limit)


@routes.post("/api/organizations/:org_slug/webhooks/:webhook_id/test", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_CHANGE)
async def test_webhook(call: Call, org_slug: str, webhook_id: UUID) -> QueuedDelivery:
    """Send a `webhook.test` event to this webhook; its result is in the list of deliveries."""
    return QueuedDelivery(delivery_id=await call.transact(deliveries.test, org_slug, webhook_id))


@routes.post(
    "/api/organizations/:org_slug/webhooks/:webhook_id/deliveries/:delivery_id/redeliver", refuses=(DeliveryUnknown,)
)
@in_organization(Operation.WEBHOOKS_CHANGE)
async def redeliver(call: Call, org_slug: str, webhook_id: UUID, delivery_id: UUID) -> QueuedDelivery:
    """Send a delivery again, with the same `webhook-id`."""
    await call.transact(deliveries.redeliver, org_slug, webhook_id, delivery_id)
    return QueuedDelivery(delivery_id=delivery_id)


@routes.post("/api/organizations/:org_slug/webhooks/:webhook_id/redeliver-failed", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_CHANGE)
async def redeliver_failed(call: Call, org_slug: str, webhook_id: UUID, body: FailedSince) -> QueuedDeliveries:
    """Send again what has failed for good since a moment, at most 10,000 deliveries; the oldest first."""
    return QueuedDeliveries(
        queued=await call.transact(deliveries.redeliver_failed, org_slug, webhook_id, since=body.since)
    )
