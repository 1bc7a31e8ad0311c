"""Reading the deliveries of a webhook for its console."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.webhooks.deliveries import Delivery
from core.webhooks.delivery_log import DeliveryAttempt, DeliverySearch, ListedDelivery


class WebhookDeliveryLog(Protocol):
    """The deliveries of webhooks with their attempts."""

    def page(
        self, organization_id: UUID, webhook_id: UUID, wanted: DeliverySearch, *, after: Position | None, limit: int
    ) -> Sequence[ListedDelivery]:
        """Return deliveries after a position, the newest first."""
        ...

    def count(self, organization_id: UUID, webhook_id: UUID, wanted: DeliverySearch, *, counted_max: int) -> int:
        """Return how many deliveries there are, at most this number."""
        ...

    def find(self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID) -> Delivery | None:
        """Return a delivery; None when the webhook has none with that id."""
        ...

    def attempts(self, organization_id: UUID, delivery_id: UUID, *, limit: int) -> Sequence[DeliveryAttempt]:
        """Return the newest attempts of a delivery, the newest first."""
        ...
