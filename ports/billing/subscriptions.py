"""Storage of the provider's subscriptions, and of their effects on the subscriptions of users."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.notices import Buyer
from core.billing.provider_objects import SubscriptionBinding
from core.billing.reconciliation import DueSubscription
from core.billing.subscriptions import BillingSubscription, Known
from core.deferred import Deferred


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
