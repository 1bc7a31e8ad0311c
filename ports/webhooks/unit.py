"""What a transaction offers of the area `webhooks`."""

from typing import Protocol

from ports.webhooks.deliveries import WebhookDeliveries
from ports.webhooks.delivery_log import WebhookDeliveryLog
from ports.webhooks.events import EventFeed
from ports.webhooks.health import WebhookHealths
from ports.webhooks.known_addresses import KnownAddresses
from ports.webhooks.sequencing import EventSequencing
from ports.webhooks.webhooks import Webhooks


class WebhooksUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def webhooks(self) -> Webhooks: ...

    @property
    def webhook_deliveries(self) -> WebhookDeliveries: ...

    @property
    def webhook_delivery_log(self) -> WebhookDeliveryLog: ...

    @property
    def webhook_healths(self) -> WebhookHealths: ...

    @property
    def event_feed(self) -> EventFeed: ...

    @property
    def known_addresses(self) -> KnownAddresses: ...

    @property
    def event_sequencing(self) -> EventSequencing: ...
