"""Storage of subscriptions, and of what the payment provider says of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.notices import Buyer
from core.billing.own_subscriptions import PersonalSubscription
from core.billing.provider import BillingMode, SubscriptionBinding
from core.billing.provider_customers import MethodEntry
from core.billing.provider_events import BillingEvent
from core.billing.reconciliation import DueSubscription
from core.billing.subscriptions import BillingSubscription, Known
from core.deferred import Deferred
from core.services.api_keys import ServiceCaller
from core.sessions.caller_limits import Confinement


class BillingSubscriptions(Protocol):
    """The provider's subscriptions by its ids, each with at most one subscription of a user."""

    def defer_known(self, subscription_id: str, customer_id: str | None) -> Deferred[Known]:
        """Lock a subscription until the transaction ends, and query what is stored about it.

        A new one is stored as parked. Of a bound one the history begins at the newest whole subscription; of what is
        older only an end is kept. The user's subscription is locked too.
        """
        ...

    def save(self, subscription: BillingSubscription) -> None:
        """Store a subscription, and wake the reconciler when it is due at once."""
        ...

    def of_customer(self, customer_id: str) -> Sequence[str]:
        """Return the ids of a customer's subscriptions, with the parked ones that an event assigns to it."""
        ...

    def conflicts(self, binding: SubscriptionBinding) -> Sequence[str]:
        """Return the ids of the user's subscriptions to the service that wait for the end of another."""
        ...

    def due(self, organization_id: UUID, customer_id: str, *, at: datetime, limit: int) -> Sequence[DueSubscription]:
        """Return the customer's subscriptions to be read from the provider."""
        ...

    def postpone(self, subscription_id: str, *, until: datetime) -> None:
        """Read a subscription from the provider at that time."""
        ...

    def is_purchasable(self, binding: SubscriptionBinding) -> bool:
        """Return whether organization, service, plan and user exist and belong together; they are locked then."""
        ...

    def is_undeliverable(self, binding: SubscriptionBinding) -> bool:
        """Return whether the organization has deleted the service or the user of a purchase."""
        ...

    def buyer(self, binding: SubscriptionBinding) -> Buyer | None:
        """Return the buyer, with the names for a mail; None when the account is not active."""
        ...


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


class BillingCancellations(Protocol):
    """Subscriptions to end. Deleting the row of a live one in `BillingSubscriptions` adds it here too."""

    def add(self, subscription_id: str, mode: BillingMode) -> None:
        """Queue a subscription, unless it was queued before."""
        ...

    def add_of_user(self, user_id: UUID) -> None:
        """Queue all live subscriptions of a user; each stays live until the provider reports its end."""
        ...

    def drop_of_service_user(self, caller: ServiceCaller, user_id: UUID) -> None:
        """Forget a user's subscriptions to a service, and queue the live ones among them."""
        ...

    def has(self, subscription_id: str) -> bool:
        """Return whether a subscription was queued, also if it has ended since."""
        ...

    def claim(self, mode: BillingMode, *, now: datetime, due_again_at: datetime) -> str | None:
        """Return the subscription that is due first, and make it due again at a later time."""
        ...

    def finish(self, subscription_id: str) -> None:
        """Keep a subscription as ended, so that its late events are recognized."""
        ...


class BillingEvents(Protocol):
    """Events, each stored once under the provider's id."""

    def defer_add(self, event: BillingEvent) -> Deferred[bool]:
        """Store an event; the result is False when it is stored already."""
        ...

    def refuse(self, event_ids: Sequence[str]) -> None:
        """Record that these events have no effect."""
        ...

    def mark_noticed(self, event_ids: Sequence[str]) -> None:
        """Record that the mails of these events were queued."""
        ...

    def methods(self, customer_id: str) -> Sequence[MethodEntry]:
        """Return the events that a customer's default payment method is computed from."""
        ...
