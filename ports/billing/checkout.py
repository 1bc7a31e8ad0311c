"""Storage of checkouts."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.checkout import Checkout, OfferedPlan
from core.billing.provider import BillingMode


class BillingCheckouts(Protocol):
    """Checkouts that were started."""

    def plan(self, organization_id: UUID, plan_id: UUID) -> OfferedPlan | None:
        """Return a plan of any service of the organization."""
        ...

    def has_live_subscription(self, service_id: UUID, user_id: UUID) -> bool:
        """Return whether the user has a live subscription to the service."""
        ...

    def start(self, checkout: Checkout, mode: BillingMode, *, unfinished_since: datetime) -> Checkout:
        """Store a checkout, or return the same one that was started since and not finished."""
        ...

    def finish(self, checkout: Checkout, session_id: str) -> None:
        """Store the provider's session."""
        ...

    def remove(self, checkout: Checkout) -> None:
        """Delete a checkout that has no session."""
        ...
