"""Storage of subscriptions, as the backends of services see them."""

from typing import Protocol
from uuid import UUID

from core.service_api.subscriptions import SubscriptionsPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import Subscription, SubscriptionStatus


class ServiceSubscriptions(Protocol):
    """The subscriptions to the service of an API key. Storing one is in `ports/services/subscriptions.py`."""

    def current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        """Return the subscription of the user whom an id means: the live one, else the newest; None without one.

        It has the id by which the organization knows the user.
        """
        ...

    def lock_current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        """Lock the subscriptions of the user whom an id means; return the current one, with the id of the account."""
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
