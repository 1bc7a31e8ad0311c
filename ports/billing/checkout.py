"""Storage of checkouts."""

from datetime import datetime
from typing import Protocol

from core.billing.checkout import Checkout
from core.billing.provider import BillingMode


class BillingCheckouts(Protocol):
    """Checkouts that were started."""

    def start(self, checkout: Checkout, mode: BillingMode, *, unfinished_since: datetime) -> Checkout:
        """Store a checkout, or return the same one that was started since and not finished."""
        ...

    def finish(self, checkout: Checkout, session_id: str) -> None:
        """Store the provider's session."""
        ...

    def remove(self, checkout: Checkout) -> None:
        """Delete a checkout that has no session."""
        ...
