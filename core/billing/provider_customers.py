"""Customers at the payment provider: one for each organization, made when it first buys or opens the billing portal.

An end user who buys through a service is a customer of their own for that service, never the organization's. Only the
checkout that made such a customer binds it.

The checkout that made the customer of an organization binds it, or `customer.created` with the organization in its
metadata, whichever comes first. Its profile and its default payment method follow its events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.billing.provider import BillingMode, SubscriptionBinding, customer_metadata
from core.billing.provider_events import BillingEvent, Effect
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

CREATED: Final = "customer.created"
# The events that decide the default payment method.
METHOD_EFFECTS: Final = frozenset({Effect.CUSTOMER, Effect.METHOD_ATTACHED, Effect.METHOD_DETACHED})
CUSTOMER_EFFECTS: Final = METHOD_EFFECTS | {Effect.CUSTOMER_DELETED}


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingCustomer:
    """A customer; without an organization it does not concern us yet.

    With a service and a user, the customer is that end user, and the organization is the seller.
    """

    id: str
    mode: BillingMode
    organization_id: UUID | None
    profile_at: datetime | None
    profile_event_id: str | None
    default_payment_method: str | None
    deleted_at: datetime | None
    service_id: UUID | None = None
    user_id: UUID | None = None

    def may_buy(self, binding: SubscriptionBinding) -> bool:
        """Return whether a purchase is for the customer's organization and, for a user's customer, for that user."""
        is_own = self.organization_id == binding.organization_id
        return is_own and (self.user_id is None or (self.service_id, self.user_id) == binding.buyer)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerCreation:
    """A customer to be made; every request that needs this customer has the same key.

    With a service and a user, it is that end user's own.
    """

    organization_id: UUID
    name: str
    idempotency_key: str
    email: str | None = field(default=None, repr=False)
    service_id: UUID | None = None
    user_id: UUID | None = None

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata for the provider; an end user's has no organization, because that would bind the customer."""
        return customer_metadata(self.organization_id, self.service_id, self.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodEntry:
    """A stored event about a customer's payment method."""

    event_id: str
    occurred_at: datetime
    effect: Effect
    payment_method: str | None


def creation(uow: UnitOfWork, organization_id: UUID, name: str, mode: BillingMode) -> CustomerCreation:
    """Return the customer to make for an organization that has none."""
    # A customer that a concurrent request has just bound does not count, because both need the same key. A deleted one
    # counts, because the provider would answer its key with the deleted customer.
    number = uow.billing_customers.count_deleted(organization_id, mode) + 1
    return CustomerCreation(
        organization_id=organization_id,
        name=name,
        idempotency_key=f"gatehouse-customer-{organization_id}-{number}",
    )


def creation_of_user(
    uow: UnitOfWork, organization_id: UUID, service_id: UUID, user_id: UUID, email: str, mode: BillingMode
) -> CustomerCreation:
    """Return the customer to make for an end user of a service who has none, as `creation` does."""
    number = uow.billing_customers.count_deleted_of_user(organization_id, service_id, user_id, mode) + 1
    return CustomerCreation(
        organization_id=organization_id,
        name=email,
        idempotency_key=f"gatehouse-customer-{service_id}-{user_id}-{number}",
        email=email,
        service_id=service_id,
        user_id=user_id,
    )


def apply(uow: UnitOfWork, event: BillingEvent, customer: BillingCustomer) -> bool:
    """Apply an event to its locked customer; return whether its subscriptions have to be settled again."""
    match event.effect:
        case Effect.CUSTOMER_DELETED:
            uow.billing_customers.mark_deleted(customer.id, at=event.occurred_at)
            return True
        case Effect.CUSTOMER:
            _save_profile(uow, event, customer)
            _save_default_method(uow, customer)
            return _bind_by(uow, event, customer)
        case _:
            _save_default_method(uow, customer)
            return False


def default_method(entries: Iterable[MethodEntry]) -> str | None:
    """Return the default payment method after these events, in whatever order they arrived."""
    default: str | None = None
    for entry in sorted(entries, key=lambda entry: (entry.occurred_at, entry.event_id)):
        if entry.effect is not Effect.METHOD_DETACHED:
            default = entry.payment_method or default
        elif entry.payment_method == default:
            default = None
    return default


def _save_profile(uow: UnitOfWork, event: BillingEvent, customer: BillingCustomer) -> None:
    known = (customer.profile_at, customer.profile_event_id or "")
    if known[0] is None or (event.occurred_at, event.id) > known:
        uow.billing_customers.save_profile(customer.id, event)


def _save_default_method(uow: UnitOfWork, customer: BillingCustomer) -> None:
    method = default_method(uow.billing_events.methods(customer.id))
    if method != customer.default_payment_method:
        uow.billing_customers.save_default_method(customer.id, method)


def _bind_by(uow: UnitOfWork, event: BillingEvent, customer: BillingCustomer) -> bool:
    organization_id = event.profile.organization_id if event.profile is not None else None
    if event.type != CREATED or organization_id is None or customer.organization_id is not None:
        return False
    return uow.billing_customers.bind(customer.id, organization_id, customer.mode)
