"""Searching the subscriptions that an organization has sold."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.sold_subscriptions import SoldFilter, SoldSubscription


class SoldSubscriptions(Protocol):
    """Subscriptions to the services of an organization."""

    def page(
        self, organization_id: UUID, wanted: SoldFilter, *, after: Position | None, limit: int
    ) -> Sequence[SoldSubscription]:
        """Return subscriptions, the newest first."""
        ...

    def count(self, organization_id: UUID, wanted: SoldFilter, *, counted_max: int) -> int:
        """Count subscriptions, up to `counted_max`."""
        ...

    def find(self, organization_id: UUID, subscription_id: UUID) -> SoldSubscription | None:
        """Return a subscription to a service of this organization; None when there is none."""
        ...
