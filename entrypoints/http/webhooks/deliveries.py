"""Deliveries of a webhook: what was sent, what came back, and sending again."""

from uuid import UUID

from core.events.events import EventType
from core.organizations.access import Operation
from core.webhooks import deliveries
from core.webhooks.deliveries import DeliveryFilter, DeliveryList, DeliveryUnknown
from core.webhooks.webhooks import WebhookUnknown
from entrypoints.http.webhooks.webhooks import QueuedDelivery
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("webhooks", "")


class DeliveriesQuery(Paged, kw_only=True):
    """Filters: an event type, and whether the delivery has arrived."""

    event_type: EventType | None = None
    delivered: bool | None = None


@routes.get("/api/organizations/:org_slug/webhooks/:webhook_id/deliveries", refuses=(WebhookUnknown,))
@in_organization(Operation.WEBHOOKS_READ)
async def list_deliveries(call: Call, org_slug: str, webhook_id: UUID, query: DeliveriesQuery) -> DeliveryList:
    """List the deliveries, newest first, each with what the last attempt got."""
    wanted = DeliveryFilter(event_type=query.event_type, delivered=query.delivered)
    return await call.read(deliveries.list_page, org_slug, webhook_id, wanted, page=query.page, limit=query.limit)


@routes.post(
    "/api/organizations/:org_slug/webhooks/:webhook_id/deliveries/:delivery_id/redeliver", refuses=(DeliveryUnknown,)
)
@in_organization(Operation.WEBHOOKS_CHANGE)
async def redeliver(call: Call, org_slug: str, webhook_id: UUID, delivery_id: UUID) -> QueuedDelivery:
    """Send a delivery again, with the same `webhook-id`."""
    await call.transact(deliveries.redeliver, org_slug, webhook_id, delivery_id)
    return QueuedDelivery(delivery_id=delivery_id)
