"""Storage of the subscriptions that the payment provider has to end."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.provider import BillingMode
from core.services.api_keys import ServiceCaller


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
