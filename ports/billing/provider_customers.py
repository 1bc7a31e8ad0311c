"""Storage of customers at the payment provider."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.billing.provider import BillingMode
from core.billing.provider_customers import BillingCustomer
from core.billing.provider_events import BillingEvent


class BillingCustomers(Protocol):
    """Customers by the provider's ids; an organization, and a user of a service, has at most one that is not
    deleted, in each mode.
    """

    def of_organization(self, organization_id: UUID, mode: BillingMode) -> BillingCustomer | None:
        """Return the organization's customer that is not deleted."""
        ...

    def count_deleted(self, organization_id: UUID, mode: BillingMode) -> int:
        """Return how many customers of the organization were deleted."""
        ...

    def bind(self, customer_id: str, organization_id: UUID, mode: BillingMode) -> bool:
        """Bind a customer, known or new, to an organization.

        Return False when the organization does not exist or has another customer, or the customer is another's.
        """
        ...

    def of_user(
        self, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode
    ) -> BillingCustomer | None:
        """Return the customer, not deleted, of a user for a service of an organization."""
        ...

    def count_deleted_of_user(self, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode) -> int:
        """Return how many such customers were deleted."""
        ...

    def bind_to_user(
        self, customer_id: str, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode
    ) -> bool:
        """Bind a customer, known or new, to a user of a service.

        Return False when the user or the service does not exist, when the user has another customer for the service, or
        when the customer is another's.
        """
        ...

    def defer_hold(self, customer_id: str) -> None:
        """Lock a customer against changes and deletion while its subscription is settled, if it is known."""
        ...

    def ensure_held(self, customer_id: str, mode: BillingMode) -> None:
        """Store a customer that `defer_hold` has not found, and lock it in the same way."""
        ...

    def held(self, customer_id: str) -> BillingCustomer | None:
        """Return a customer, locked as by `defer_hold`; None when it is unknown."""
        ...

    def lock(self, customer_id: str, mode: BillingMode) -> BillingCustomer:
        """Lock a customer for a change, and return it; store it if it is new."""
        ...

    def mark_deleted(self, customer_id: str, *, at: datetime) -> None:
        """Record that the provider has deleted the customer."""
        ...

    def save_profile(self, customer_id: str, event: BillingEvent) -> None:
        """Store the name and address in an event."""
        ...

    def save_default_method(self, customer_id: str, payment_method: str | None) -> None:
        """Store the default payment method."""
        ...

    def lease_due(self, mode: BillingMode, *, now: datetime, leased_until: datetime) -> BillingCustomer | None:
        """Lease the customer whose subscription is due first, among those that are not leased."""
        ...

    def release(self, organization_id: UUID, customer_id: str, *, leased_until: datetime) -> None:
        """End a lease, unless it has expired and another process has leased the customer."""
        ...
