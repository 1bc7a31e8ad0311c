"""Storage of subscriptions."""

from typing import Protocol
from uuid import UUID

from core.services.plans import Plan
from core.services.subscriptions import Subscription


class Subscriptions(Protocol):
    """Subscriptions of end users to plans; a constraint ensures that a user has one live one to a service."""

    def current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        """Return a user's subscription to a service: the live one, else the newest; None without one."""
        ...

    def lock_current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        """Return what `current` returns, locked until this transaction ends."""
        ...

    def lock_by_billing_id(self, billing_subscription_id: str) -> Subscription | None:
        """Return the subscription that the payment provider bills under this id, locked; None without one."""
        ...

    def add(self, subscription: Subscription) -> bool:
        """Store a new subscription; False when its user has a live one or its billing id is known.

        Subscriptions of concurrent transactions count too.
        """
        ...

    def save(self, subscription: Subscription, *, becomes_live: bool) -> bool:
        """Store the new state of a locked subscription; False when it becomes live beside another live one."""
        ...

    def are_live_of_plan(self, plan: Plan) -> bool:
        """Return whether a plan has live subscriptions."""
        ...

    def are_live_of_service(self, organization_id: UUID, service_id: UUID) -> bool:
        """Return whether a service has live subscriptions."""
        ...
