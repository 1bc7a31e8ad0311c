"""Storage of subscriptions, as the backends of services see them."""

from typing import Protocol
from uuid import UUID

from core.service_api.subscriptions import SubscriptionsPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import Subscription, SubscriptionStatus


class ServiceSubscriptions(Protocol):
    """The subscriptions to the service of an API key. Storing one is in `ports/services/subscriptions.py`."""

    def current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        """Return a user's live subscription, else the newest; None without one.

        `known_id` is the id by which the organization knows the user, and the subscription has it too.
        """
        ...

    def lock_current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        """Lock the subscriptions of a user; return what `current` does, but with the id of the account."""
        ...

    def page(
        self, caller: ServiceCaller, *, status: SubscriptionStatus | None, limit: int, offset: int
    ) -> SubscriptionsPage:
        """Return subscriptions to the service, the newest first, and the number of those that match.

        They have the ids by which the organization knows the users.
        """
        ...

    def remove_of_user(self, caller: ServiceCaller, user_id: UUID) -> None:
        """Delete all subscriptions of a user to the service."""
        ...
