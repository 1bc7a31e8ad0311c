"""Storage of deliveries: what is due, in which order, and their log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.events.events import EventType
from core.positions import Position
from core.webhooks.deliveries import Delivery, DeliveryFilter, DeliveryOutcome, LeasedWebhook
from core.webhooks.delivery_log import DeliveryAttempt, DeliverySearch, ListedDelivery
from core.webhooks.events import FeedItem
from core.webhooks.sequencing import WaitingEvent, WaitingEvents


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


class EventFeed(Protocol):
    """Events in the order of their positions."""

    def page(
        self,
        organization_id: UUID,
        *,
        after: int,
        types: Sequence[EventType] | None,
        limit: int,
        kept_since: datetime,
    ) -> tuple[Sequence[FeedItem], int]:
        """Return events of an organization after a position, and the last position of any of its events.

        Both are read at the same moment. Older events than those that are kept may be missing.
        """
        ...

    def last_read(self, organization_id: UUID, *, position: int, read_at: datetime, kept_since: datetime) -> int:
        """Return the last position up to this one of an event that had happened by then; 0 when there is none."""
        ...


class FeedWaiters(Protocol):
    """Requests that wait for the next events of the feed."""

    async def wait(self, seconds: float) -> None:
        """Return when events were added to the feed in this process, or after these seconds."""
        ...

    def wake(self) -> None:
        """Wake all requests that wait."""
        ...


class EventSequencing(Protocol):
    """Gives positions to events; one transaction at a time does so for an organization."""

    def waiting(self, limit: int, *, after: UUID | None, kept_since: datetime) -> WaitingEvents:
        """Return the first events without a position of marked organizations and of the platform, about `limit`.

        The organizations are in the order of their ids, those after the given one first, and each has an even share.
        No other transaction gives positions to events of these organizations until this one ends. Organizations for
        which another transaction is doing so are left out, and counted.
        """
        ...

    def assign_positions(self, events: Sequence[WaitingEvent]) -> None:
        """Give these events the next positions of their organizations, and make the deliveries to active webhooks."""
        ...

    def unmark(self, organization_ids: Sequence[UUID], *, kept_since: datetime) -> None:
        """Remove the marks of organizations in which no event waits and no transaction writes at this moment.

        Until this transaction ends, others that write events of these organizations wait.
        """
        ...

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not marked; return how many."""
        ...
