"""The payment provider as Gatehouse uses it: requests, answers, and failures.

The port is `ports/billing/gateway.py`. It has two adapters, the Stripe API and the embedded sandbox, and `BillingMode`
says with which of them a customer was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.billing.provider_objects import Facts
from core.errors import ErrorCode, Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret

# Ids of the provider are stored as they are; this is its own limit.
PROVIDER_ID_CHARACTERS_MAX: Final = 255
# Keys that open only test data begin so.
_TEST_KEYS: Final = ("sk_test_", "rk_test_")


class BillingMode(StrEnum):
    """Where a customer exists: in the embedded sandbox, or among the provider's test or live data."""

    SANDBOX = "sandbox"
    TEST = "test"
    LIVE = "live"


def mode_of_key(key: Secret) -> BillingMode:
    """Return the mode of the data that a secret key of the provider opens."""
    return BillingMode.TEST if key.reveal().startswith(_TEST_KEYS) else BillingMode.LIVE


class BillingFailed(Refusal):
    """The payment provider could not be reached, refused the request, or answered something unusable."""

    code = ErrorCode.BILLING_ERROR
    default_message = "The payment provider failed. Nothing was changed or charged; try again in a few minutes."

    def __init__(self, *, is_refused: bool = False) -> None:
        super().__init__()
        # Whether the provider has refused the request; otherwise it may have been executed.
        self.is_refused = is_refused


class NothingForSale(BillingFailed):
    """No payment provider is set, and the sandbox is off, so nothing can be bought."""

    default_message = (
        "Nothing can be bought here: this installation has no payment provider. Ask its operator to set"
        " GATEHOUSE_BILLING_SECRET_KEY, or GATEHOUSE_BILLING_SANDBOX=on to try plans out without money."
    )

    def __init__(self) -> None:
        super().__init__(is_refused=True)


class BillingRateLimited(BillingFailed):
    """The payment provider asks to wait before the next request."""

    def __init__(self, *, retry_after_seconds: float) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutOrder:
    """The product of a checkout page; the sandbox shows these names and price, the provider its own by `price_id`."""

    customer_id: str
    price_id: str
    success_url: str
    cancel_url: str
    metadata: Mapping[str, str]
    service_name: str
    plan_name: str
    price_cents: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutSession:
    """A checkout page of the provider; the names of the fields are the interface's."""

    checkout_url: str
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSubscription:
    """A subscription as read from the provider, at a time by the provider's clock."""

    customer_id: str | None
    facts: Facts
    as_of: datetime
