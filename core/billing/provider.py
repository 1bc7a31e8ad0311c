"""The payment provider as Gatehouse uses it: the objects of the Stripe API, requests, answers, and failures.

The port is `ports/billing/gateway.py`. It has two adapters, the Stripe API and the embedded sandbox, and `BillingMode`
says with which of them a customer was made.

Objects are read in their older and their current shapes. The period of a subscription was a field of the subscription
and is now a field of its items; an invoice named its subscription at the top and now names it under `parent`; a price
was a `plan`. A reference may be an id or the object itself. A missing or unusable value is None here, and the caller
decides what that means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

from core.errors import ErrorCode, Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.services.subscriptions import SubscriptionStatus

Object: TypeAlias = Mapping[str, Any]
_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,255}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# The end of the year 9999, the last year of a date.
SECONDS_MAX: Final = 253_402_300_799
TEXT_CHARACTERS_MAX: Final = 254
# The states of the provider; an object with another state is not used.
STATUSES: Final[Mapping[str, SubscriptionStatus]] = {
    "active": SubscriptionStatus.ACTIVE,
    "trialing": SubscriptionStatus.ACTIVE,
    "past_due": SubscriptionStatus.PAST_DUE,
    "unpaid": SubscriptionStatus.PAST_DUE,
    "incomplete": SubscriptionStatus.PAST_DUE,
    "paused": SubscriptionStatus.PAST_DUE,
    "canceled": SubscriptionStatus.CANCELLED,
    "incomplete_expired": SubscriptionStatus.EXPIRED,
}
ORG_ID: Final = "org_id"
SERVICE_ID: Final = "service_id"
PLAN_ID: Final = "plan_id"
USER_ID: Final = "user_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionBinding:
    """The metadata of a subscription: the organization, service, plan and user that it was bought for."""

    organization_id: UUID
    service_id: UUID
    plan_id: UUID
    user_id: UUID

    @property
    def buyer(self) -> tuple[UUID, UUID]:
        """The service, and its user who has bought."""
        return self.service_id, self.user_id

    @property
    def metadata(self) -> dict[str, str]:
        """The binding in the form for the provider."""
        return {
            USER_ID: str(self.user_id),
            SERVICE_ID: str(self.service_id),
            PLAN_ID: str(self.plan_id),
            ORG_ID: str(self.organization_id),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The content of an object about a subscription; None for what it lacks."""

    status: SubscriptionStatus | None = None
    price_id: str | None = None
    period_end: datetime | None = None
    binding: SubscriptionBinding | None = None


NOTHING: Final = Facts()


def subscription_facts(subscription: Object) -> Facts:
    """Return the content of a subscription."""
    items = _list(_object(subscription.get("items")).get("data"))
    ends = [
        time_of(subscription.get("current_period_end")),
        *(time_of(item.get("current_period_end")) for item in items),
    ]
    prices = [reference(item.get("price")) or reference(item.get("plan")) for item in items]
    return Facts(
        status=STATUSES.get(word(subscription.get("status"))),
        price_id=next(filter(None, prices), None) or reference(subscription.get("plan")),
        period_end=_latest(ends),
        binding=binding_of(subscription),
    )


def invoice_subscription(invoice: Object) -> str | None:
    """Return the id of the subscription that an invoice is for."""
    return reference(invoice.get("subscription")) or reference(_subscription_details(invoice).get("subscription"))


def invoice_facts(invoice: Object) -> Facts:
    """Return the content of an invoice about its subscription: the period that its lines pay, and the metadata."""
    lines = _list(_object(invoice.get("lines")).get("data"))
    return Facts(
        period_end=_latest([time_of(_object(line.get("period")).get("end")) for line in lines]),
        binding=binding_of(_subscription_details(invoice)),
    )


def session_facts(session: Object) -> Facts:
    """Return the content of a completed checkout about its subscription."""
    is_paid = session.get("payment_status") in {"paid", "no_payment_required"}
    status = SubscriptionStatus.ACTIVE if is_paid else SubscriptionStatus.PAST_DUE
    return Facts(status=status, binding=binding_of(session))


def binding_of(owner: Object) -> SubscriptionBinding | None:
    """Return the binding in the metadata of an object; None when it is incomplete."""
    metadata = _object(owner.get("metadata"))
    organization_id, service_id = uuid_of(metadata.get(ORG_ID)), uuid_of(metadata.get(SERVICE_ID))
    plan_id, user_id = uuid_of(metadata.get(PLAN_ID)), uuid_of(metadata.get(USER_ID))
    if organization_id is None or service_id is None or plan_id is None or user_id is None:
        return None
    return SubscriptionBinding(organization_id=organization_id, service_id=service_id, plan_id=plan_id, user_id=user_id)


def organization_of(customer: Object) -> UUID | None:
    """Return the organization in the metadata of a customer; None for the customer of an end user."""
    metadata = _object(customer.get("metadata"))
    return None if USER_ID in metadata else uuid_of(metadata.get(ORG_ID))


def customer_metadata(organization_id: UUID, service_id: UUID | None, user_id: UUID | None) -> dict[str, str]:
    """Return the metadata of a customer: the organization, or the end user of a service."""
    if service_id is None or user_id is None:
        return {ORG_ID: str(organization_id)}
    return {USER_ID: str(user_id), SERVICE_ID: str(service_id)}


def default_payment_method_of(customer: Object) -> str | None:
    """Return the payment method for a customer's invoices."""
    return reference(_object(customer.get("invoice_settings")).get("default_payment_method"))


def reference(value: Any) -> str | None:
    """Return the id of an object, which is given as its id or as a whole."""
    found = _object(value).get("id") if isinstance(value, Mapping) else value
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def word(value: Any) -> str:
    """Return a word of the provider's vocabulary, such as a status; an empty text when it is none."""
    return value if isinstance(value, str) else ""


def text(value: Any) -> str | None:
    """Return a text that can be stored, shortened; None for any other value."""
    if not isinstance(value, str) or not value.isprintable():
        return None
    return value[:TEXT_CHARACTERS_MAX] or None


def uuid_of(value: Any) -> UUID | None:
    """Return an id of Gatehouse in the provider's metadata."""
    return UUID(value) if isinstance(value, str) and _UUID.fullmatch(value) else None


def time_of(value: Any) -> datetime | None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= SECONDS_MAX:
        return None
    return datetime.fromtimestamp(value, UTC)


def _latest(times: Sequence[datetime | None]) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def _subscription_details(invoice: Object) -> Object:
    current = _object(_object(invoice.get("parent")).get("subscription_details"))
    return current or _object(invoice.get("subscription_details"))


def _object(value: Any) -> Object:
    return cast("Object", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Object]:
    return [_object(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []


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
