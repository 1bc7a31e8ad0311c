"""Storage of subscriptions, as the backends of services see them."""

from typing import Protocol
from uuid import UUID

from core.service_api.subscriptions import SubscriptionsPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import SubscriptionStatus


class ServiceSubscriptions(Protocol):
    """The subscriptions to the service of an API key. Storing one is in `ports/services/subscriptions.py`."""

    def page(
        self, caller: ServiceCaller, *, status: SubscriptionStatus | None, limit: int, offset: int
    ) -> SubscriptionsPage:
        """Return subscriptions to the service, the newest first, and the number of those that match."""
        ...

    def remove_of_user(self, caller: ServiceCaller, user_id: UUID) -> None:
        """Delete all subscriptions of a user to the service."""
        ...
