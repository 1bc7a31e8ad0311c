"""Port for reading the subscriptions of a person."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.billing.own_subscriptions import PersonalSubscription
from core.billing.provider import BillingMode
from core.sessions.confinement import Confinement


class SubscriptionsOfUser(Protocol):
    """The subscriptions of a user to all services, and the user's customers at the payment provider."""

    def of_user(
        self, user_id: UUID, mode: BillingMode, *, limits: Confinement | None, limit: int
    ) -> tuple[Sequence[PersonalSubscription], int]:
        """Return one subscription for each service within limits, the live ones first, and how many there are.

        It is the live one, else the newest, and says whether the user is a customer in this mode.
        """
        ...

    def customer_of(
        self, user_id: UUID, service_id: UUID, mode: BillingMode, *, limits: Confinement | None
    ) -> tuple[UUID, str] | None:
        """Return the organization of a service and the user's customer for it; None when there is no customer."""
        ...
