"""The events of the payment provider: their types, subjects and contents.

`EFFECTS` is the table of the handled types. An event of another type, or of a handled type about an object that cannot
be read, has the effect `NONE`: it is stored, changes nothing and is answered like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID

from core.billing import provider
from core.billing.provider import NOTHING, Facts, Object, reference
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.tables import PartialTable


class EventInvalid(BadRequest):
    """The body is no event of the payment provider."""

    default_message = "The body has to be an event object with id, type, created and data."


class Effect(StrEnum):
    """The meaning of an event; the value is stored."""

    SNAPSHOT = "snapshot"  # The whole subscription.
    ENDED = "ended"  # The subscription has ended for good.
    PAID = "paid"
    PAYMENT_FAILED = "payment_failed"
    SESSION = "session"  # A checkout was completed, which tells what its subscription is for.
    TRIAL_ENDING = "trial_ending"
    ACTION_REQUIRED = "action_required"
    CUSTOMER = "customer"
    CUSTOMER_DELETED = "customer_deleted"
    METHOD_ATTACHED = "method_attached"
    METHOD_DETACHED = "method_detached"
    NONE = "none"
    REFUSED = "refused"  # It contradicts what its subscription is bound to.


EFFECTS: Final[Mapping[str, Effect]] = {
    "customer.subscription.created": Effect.SNAPSHOT,
    "customer.subscription.updated": Effect.SNAPSHOT,
    "customer.subscription.deleted": Effect.ENDED,
    "customer.subscription.trial_will_end": Effect.TRIAL_ENDING,
    "invoice.paid": Effect.PAID,
    "invoice.payment_failed": Effect.PAYMENT_FAILED,
    "invoice.payment_action_required": Effect.ACTION_REQUIRED,
    "customer.created": Effect.CUSTOMER,
    "customer.updated": Effect.CUSTOMER,
    "customer.deleted": Effect.CUSTOMER_DELETED,
    "payment_method.attached": Effect.METHOD_ATTACHED,
    "payment_method.detached": Effect.METHOD_DETACHED,
    "checkout.session.completed": Effect.SESSION,
}
OF_SUBSCRIPTION: Final = frozenset({Effect.SNAPSHOT, Effect.ENDED, Effect.TRIAL_ENDING})
OF_INVOICE: Final = frozenset({Effect.PAID, Effect.PAYMENT_FAILED, Effect.ACTION_REQUIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerProfile:
    """The customer in an event; it is stored with the customer, never with the event."""

    organization_id: UUID | None
    name: str | None
    email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingEvent:
    """An event, with the parts that Gatehouse uses."""

    id: str
    type: str
    effect: Effect
    occurred_at: datetime
    subscription_id: str | None = None
    customer_id: str | None = None
    facts: Facts = NOTHING
    # Set if the event is about a payment method, or names the default one of a customer.
    payment_method: str | None = None
    profile: CustomerProfile | None = None
    # Where the buyer completes a payment; it is mailed and not stored, because it opens the invoice to its holder.
    invoice_url: str | None = None


def parse(event: object) -> BillingEvent:
    """Return a decoded event; raise `EventInvalid` when it is none."""
    if not isinstance(event, Mapping):
        raise EventInvalid
    given = cast("Object", event)
    data = given.get("data")
    event_id, occurred_at = reference(given.get("id")), provider.time_of(given.get("created"))
    event_type = reference(given.get("type"))
    if event_id is None or event_type is None or occurred_at is None or not isinstance(data, Mapping):
        raise EventInvalid
    effect = EFFECTS.get(event_type, Effect.NONE)
    said = _said(effect, cast("Object", data))
    if said is None:
        effect, said = Effect.NONE, {}
    return BillingEvent(id=event_id, type=event_type, effect=effect, occurred_at=occurred_at, **said)


def _said(effect: Effect, data: Object) -> dict[str, Any] | None:
    """Return the content of the object of an event; None when not even its subject can be read."""
    subject = data.get("object")
    if not isinstance(subject, Mapping):
        return None
    subject = cast("Object", subject)
    if effect in OF_SUBSCRIPTION:
        said = _of_subscription(subject)
        # A subscription in an unknown state is not used.
        is_usable = effect is not Effect.SNAPSHOT or said is None or said["facts"].status is not None
        return said if is_usable else None
    if effect in OF_INVOICE:
        return _of_invoice(subject)
    reader = _READERS.get(effect)
    return reader(subject, data) if reader is not None else None


def _of_subscription(subscription: Object) -> dict[str, Any] | None:
    subscription_id = reference(subscription.get("id"))
    if subscription_id is None:
        return None
    return {
        "subscription_id": subscription_id,
        "customer_id": reference(subscription.get("customer")),
        "facts": provider.subscription_facts(subscription),
    }


def _of_invoice(invoice: Object) -> dict[str, Any] | None:
    # An invoice without a subscription does not concern us.
    subscription_id = provider.invoice_subscription(invoice)
    if subscription_id is None:
        return None
    return {
        "subscription_id": subscription_id,
        "customer_id": reference(invoice.get("customer")),
        "facts": provider.invoice_facts(invoice),
        "invoice_url": _web_address(invoice.get("hosted_invoice_url")),
    }


def _of_session(session: Object, _data: Object) -> dict[str, Any] | None:
    subscription_id = reference(session.get("subscription"))
    if subscription_id is None:
        return None
    return {
        "subscription_id": subscription_id,
        "customer_id": reference(session.get("customer")),
        "facts": provider.session_facts(session),
    }


def _of_customer(customer: Object, _data: Object) -> dict[str, Any] | None:
    customer_id = reference(customer.get("id"))
    if customer_id is None:
        return None
    return {
        "customer_id": customer_id,
        "payment_method": provider.default_payment_method_of(customer),
        "profile": CustomerProfile(
            organization_id=provider.organization_of(customer),
            name=provider.text(customer.get("name")),
            email=provider.text(customer.get("email")),
        ),
    }


def _of_payment_method(method: Object, data: Object) -> dict[str, Any] | None:
    # A detached payment method has no customer any more; the event has the previous one.
    before = data.get("previous_attributes")
    previous = reference(cast("Object", before).get("customer")) if isinstance(before, Mapping) else None
    customer_id, method_id = reference(method.get("customer")) or previous, reference(method.get("id"))
    if customer_id is None or method_id is None:
        return None
    return {"customer_id": customer_id, "payment_method": method_id}


_READERS: Final[PartialTable[Effect, Callable[[Object, Object], dict[str, Any] | None]]] = PartialTable(
    {
        Effect.SESSION: _of_session,
        Effect.CUSTOMER: _of_customer,
        Effect.CUSTOMER_DELETED: _of_customer,
        Effect.METHOD_ATTACHED: _of_payment_method,
        Effect.METHOD_DETACHED: _of_payment_method,
    }
)


def _web_address(value: Any) -> str | None:
    is_usable = isinstance(value, str) and value.isprintable() and value.startswith("https://") and " " not in value
    return value if is_usable else None
