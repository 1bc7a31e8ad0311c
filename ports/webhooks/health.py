"""Reading the health of webhooks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.webhooks.health import HealthFigures, HourOfDeliveries, ListedWebhook


class WebhookHealths(Protocol):
    """Counts of deliveries and durations of attempts, each of a bounded number of rows."""

    def of_organization(self, organization_id: UUID, *, since: datetime, counted_max: int) -> Sequence[ListedWebhook]:
        """List webhooks, the oldest first, each with the counts of its newest deliveries since a moment."""
        ...

    def hours(
        self, organization_id: UUID, webhook_id: UUID, *, first: datetime, hours: int, counted_max: int
    ) -> Sequence[HourOfDeliveries]:
        """Return the hours from the first on, each with the counts of at most this number of deliveries."""
        ...

    def figures(self, organization_id: UUID, webhook_id: UUID, *, since: datetime, attempts_max: int) -> HealthFigures:
        """Return further figures of an existing webhook, with durations of its newest attempts since a moment."""
        ...
