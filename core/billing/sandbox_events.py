"""The records of the sandbox provider, and its objects and events in the current shape of the Stripe API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from core.billing.provider import customer_metadata
from core.lazy_dataclasses import dataclass


class SessionKind(StrEnum):
    """A kind of page of the sandbox."""

    CHECKOUT = "checkout"
    PORTAL = "portal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCustomer:
    """A customer of the sandbox."""

    id: str
    organization_id: UUID
    name: str
    default_payment_method: str | None
    created_at: datetime
    service_id: UUID | None = None
    user_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSession:
    """A page of the sandbox; its id, which cannot be guessed, opens it."""

    id: str
    kind: SessionKind
    customer_id: str
    return_url: str
    expires_at: datetime
    created_at: datetime
    price_id: str | None = None
    price_cents: int | None = None
    currency: str | None = None
    service_name: str | None = None
    plan_name: str | None = None
    metadata: Mapping[str, str]
    success_url: str | None = None
    subscription_id: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the checkout can still be paid."""
        return self.subscription_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSubscription:
    """A subscription of the sandbox; the status is one of the provider's words."""

    id: str
    customer_id: str
    price_id: str
    price_cents: int
    currency: str
    description: str
    status: str
    metadata: Mapping[str, str]
    current_period_start: datetime
    current_period_end: datetime
    created_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether it has ended for good."""
        return self.status == "canceled"


API_VERSION: Final = "2025-03-31.basil"
# The types of the events that `about` makes.
CREATED: Final = "customer.subscription.created"
UPDATED: Final = "customer.subscription.updated"
DELETED: Final = "customer.subscription.deleted"
PAID: Final = "invoice.paid"
PAYMENT_FAILED: Final = "invoice.payment_failed"
ACTION_REQUIRED: Final = "invoice.payment_action_required"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxEvent:
    """An event without its id."""

    type: str
    object: dict[str, Any]
    at: datetime


def encode(event: SandboxEvent, *, event_id: str) -> str:
    """Return the body of an event."""
    return json.dumps(
        {
            "id": event_id,
            "object": "event",
            "api_version": API_VERSION,
            "created": _seconds(event.at),
            "livemode": False,
            "type": event.type,
            "data": {"object": event.object},
        }
    )


def subscription_object(subscription: SandboxSubscription) -> dict[str, Any]:
    """Return a subscription as the API shows it."""
    return {
        "id": subscription.id,
        "object": "subscription",
        "customer": subscription.customer_id,
        "status": subscription.status,
        "metadata": dict(subscription.metadata),
        "items": {
            "object": "list",
            "data": [
                {
                    "object": "subscription_item",
                    "price": {
                        "id": subscription.price_id,
                        "object": "price",
                        "unit_amount": subscription.price_cents,
                        "currency": subscription.currency,
                    },
                    "current_period_start": _seconds(subscription.current_period_start),
                    "current_period_end": _seconds(subscription.current_period_end),
                }
            ],
        },
    }


def customer_created(customer: SandboxCustomer) -> SandboxEvent:
    """Return the event of a new customer."""
    return SandboxEvent(
        type="customer.created",
        object={
            "id": customer.id,
            "object": "customer",
            "name": customer.name,
            "email": None,
            "metadata": customer_metadata(customer.organization_id, customer.service_id, customer.user_id),
            "invoice_settings": {"default_payment_method": None},
        },
        at=customer.created_at,
    )


def payment_method_attached(customer_id: str, method_id: str, *, at: datetime) -> SandboxEvent:
    """Return the event of a card that the customer entered."""
    card = {"brand": "sandbox", "last4": "0000"}
    return SandboxEvent(
        type="payment_method.attached",
        object={"id": method_id, "object": "payment_method", "customer": customer_id, "type": "card", "card": card},
        at=at,
    )


def about(subscription: SandboxSubscription, event_type: str, *, at: datetime) -> SandboxEvent:
    """Return an event of a subscription, or of its invoice, which is paid in the event that says so, and else open."""
    if event_type.startswith("invoice."):
        shown = _invoice(subscription, "paid" if event_type == PAID else "open")
    else:
        shown = subscription_object(subscription)
    return SandboxEvent(type=event_type, object=shown, at=at)


def checkout_completed(session: SandboxSession, subscription_id: str, *, at: datetime) -> SandboxEvent:
    """Return the event of a checkout that was paid."""
    return SandboxEvent(
        type="checkout.session.completed",
        object={
            "id": session.id,
            "object": "checkout.session",
            "mode": "subscription",
            "customer": session.customer_id,
            "subscription": subscription_id,
            "payment_status": "paid",
            "status": "complete",
            "metadata": dict(session.metadata),
        },
        at=at,
    )


def _invoice(subscription: SandboxSubscription, status: str) -> dict[str, Any]:
    period = {
        "start": _seconds(subscription.current_period_start),
        "end": _seconds(subscription.current_period_end),
    }
    return {
        "object": "invoice",
        "customer": subscription.customer_id,
        "status": status,
        "currency": subscription.currency,
        "total": subscription.price_cents,
        "lines": {"object": "list", "data": [{"object": "line_item", "period": period}]},
        "parent": {
            "type": "subscription_details",
            "subscription_details": {
                "subscription": subscription.id,
                "metadata": dict(subscription.metadata),
            },
        },
    }


def _seconds(at: datetime) -> int:
    return int(at.timestamp())
