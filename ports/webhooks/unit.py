"""What a transaction offers of the area `webhooks`."""

from typing import Final, Protocol

from ports.webhooks.deliveries import WebhookDeliveries
from ports.webhooks.delivery_log import WebhookDeliveryLog
from ports.webhooks.events import EventFeed
from ports.webhooks.health import WebhookHealths
from ports.webhooks.known_addresses import KnownAddresses
from ports.webhooks.sequencing import EventSequencing
from ports.webhooks.webhooks import Webhooks


class WebhooksUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    webhooks: Final[Webhooks]
    webhook_deliveries: Final[WebhookDeliveries]
    webhook_delivery_log: Final[WebhookDeliveryLog]
    webhook_healths: Final[WebhookHealths]
    event_feed: Final[EventFeed]
    known_addresses: Final[KnownAddresses]
    event_sequencing: Final[EventSequencing]
