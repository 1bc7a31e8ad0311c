"""What a transaction offers of the area `webhooks`."""

from typing import Final, Protocol

from ports.webhooks.deliveries import EventFeed, EventSequencing, WebhookDeliveries, WebhookDeliveryLog
from ports.webhooks.webhooks import KnownAddresses, WebhookHealths, Webhooks


class WebhooksUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    webhooks: Final[Webhooks]
    webhook_deliveries: Final[WebhookDeliveries]
    webhook_delivery_log: Final[WebhookDeliveryLog]
    webhook_healths: Final[WebhookHealths]
    event_feed: Final[EventFeed]
    known_addresses: Final[KnownAddresses]
    event_sequencing: Final[EventSequencing]
