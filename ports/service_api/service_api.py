"""What a service reads with its key: users, subscriptions, figures."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.service_api.analytics import ServiceAnalytics
from core.service_api.subscriptions import SubscriptionsPage
from core.service_api.users import ServiceUsersPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import Subscription, SubscriptionStatus


class ServiceUsers(Protocol):
    """The users of services. A user of no other service is ever returned."""

    def defer_page_of_key(self, *, limit: int, offset: int) -> Deferred[ServiceUsersPage]:
        """Defer reading a page of the users of the service whose key the request presents, and their number.

        The highest ids come first. The cost depends neither on the number of users nor on the offset.
        """
        ...

    def link(self, caller: ServiceCaller, user_id: UUID, *, at: datetime) -> None:
        """Make an account a user of the service who has not signed in yet; an existing user's times stay."""
        ...

    def hold(self, caller: ServiceCaller, known_id: UUID) -> UUID | None:
        """Return the account of a user, who stays one until this transaction ends; None for no user of the service.

        `known_id` is the id by which the organization knows the user.
        """
        ...

    def lock(self, caller: ServiceCaller, known_id: UUID) -> tuple[UUID, datetime] | None:
        """Lock the account of a user, so that no new row refers to it.

        Return its id and since when it is a user of the service; None for no user of the service.
        """
        ...

    def unlink(self, caller: ServiceCaller, user_id: UUID) -> None:
        """Delete a user's link to the service, the subscriptions and the sign-ins."""
        ...

    def count_changes(self, limit: int) -> int:
        """Add at most `limit` recorded changes to the numbers of users; return how many."""
        ...

    def add_milestones(self) -> int:
        """Store new milestones where too many users lie between two of them; return how many."""
        ...


class ServiceSubscriptions(Protocol):
    """The subscriptions to the service of an API key. Storing one is in `ports/services/sales.py`."""

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


class ServiceFigures(Protocol):
    """Figures about one service."""

    def read(self, caller: ServiceCaller, *, since: datetime) -> ServiceAnalytics:
        """Return the figures of the service of an API key; those of a period begin at `since`."""
        ...
