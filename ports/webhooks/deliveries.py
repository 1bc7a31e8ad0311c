"""Storage of deliveries, and the queue of webhooks that have something due."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.events.events import EventType
from core.webhooks.deliveries import Delivery, DeliveryFilter, DeliveryOutcome, LeasedWebhook


class WebhookDeliveries(Protocol):
    """Deliveries of events to webhooks."""

    def page(
        self, organization_id: UUID, webhook_id: UUID, wanted: DeliveryFilter, *, limit: int, offset: int
    ) -> tuple[Sequence[Delivery], int] | None:
        """Return deliveries, the newest first, and their total; None when there is no such webhook."""
        ...

    def add_test(
        self,
        organization_id: UUID,
        webhook_id: UUID,
        *,
        event_type: EventType,
        sample: Mapping[str, Any],
        actor_user_id: UUID | None,
        actor_email: str | None,
    ) -> UUID | None:
        """Store a test event with a delivery of it that is due now; None when there is no such webhook.

        The receiver gets it as an event of this type, with the sample as its data unless the type is that of tests.
        """
        ...

    def queue_again(
        self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID, *, seen_at: datetime | None
    ) -> bool:
        """Make a delivery due now, counting attempts anew; False when the webhook has none with that id.

        With `seen_at`, False also when the delivery has changed since then.
        """
        ...

    def queue_failed_again(self, organization_id: UUID, webhook_id: UUID, *, since: datetime, limit: int) -> int:
        """Make at most `limit` failed deliveries since that moment due now, the oldest first; return how many."""
        ...

    def make_due(self, organization_id: UUID, webhook_id: UUID) -> None:
        """Make a webhook due now."""
        ...

    def postpone_inactive(self, *, webhooks_max: int, until: datetime) -> None:
        """Postpone the webhooks that are due first and inactive, or whose organization is, until that time."""
        ...

    def lease(
        self, *, webhooks_max: int, of_organization_max: int, deliveries_max: int, leased_until: datetime
    ) -> Sequence[LeasedWebhook]:
        """Lease webhooks whose queue is due, each with its due deliveries.

        Webhooks of the organization with the fewest leased webhooks come first, then those that have waited longest.
        At most `of_organization_max` webhooks of an organization are leased at once. No other process leases a webhook
        before `release` or the end of its lease.
        """
        ...

    def save(self, organization_id: UUID, webhook_id: UUID, outcome: DeliveryOutcome) -> bool:
        """Store an attempt and its outcome; False when an outcome of the same attempt is stored already."""
        ...

    def release(self, organization_id: UUID, webhook_id: UUID, *, leased_until: datetime) -> None:
        """End this lease, unless a later one has begun, and record when the webhook's next delivery is due."""
        ...

    def make_overlooked_due(self, webhooks: Sequence[tuple[UUID, UUID]]) -> int:
        """Make these webhooks due, unless they are due, postponed or leased already; return how many."""
        ...
