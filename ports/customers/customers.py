"""Storage of the customers of services, as their vendor sees them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.customers.customers import CustomersPage, MadeCustomer, ServiceCustomer, ServiceOffer, TakenNames
from core.customers.relations import Relation
from core.services.services import Service


class ServiceCustomers(Protocol):
    """The organizations that use the service of another one, and the offers to become one.

    An offer that has expired counts as none. A transaction that changes customers has locked the service.
    """

    def has_any(self, service: Service) -> bool:
        """Return whether a service has a customer, active or paused; offers are none."""
        ...

    def end_offers(self, service: Service) -> None:
        """Withdraw the open offers of a service."""
        ...

    def page(self, service: Service, *, part: str, at: datetime, limit: int, offset: int) -> CustomersPage:
        """Return customers and open offers, the newest first.

        With a part, in lower case, only those with it in the slug, the external id or, for a customer, the name.
        """
        ...

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> ServiceCustomer | None:
        """Return a customer or open offer of a service; None when it has none with that id."""
        ...

    def keep(self, service: Service, customer_id: UUID) -> None:
        """Let no transaction delete a customer before this one ends; do nothing when it no longer exists."""
        ...

    def lock_services(self, organization_id: UUID) -> None:
        """Lock the services of an organization, so that no service gets a customer before the transaction ends."""
        ...

    def taken(
        self, service: Service, *, slug: str | None, external_id: str | None, other_than: UUID | None, at: datetime
    ) -> TakenNames:
        """Return which of these names are taken by another customer or open offer; delete expired offers with them."""
        ...

    def offer(self, service: Service, offer: ServiceOffer) -> None:
        """Store an offer, bound in the same statement to the organization that has its slug now."""
        ...

    def make(self, service: Service, made: MadeCustomer) -> None:
        """Store an active customer, whose organization the vendor has made in this transaction."""
        ...

    def count_unclaimed(self, vendor_id: UUID) -> int:
        """Count the organizations that a vendor has made and no person owns, including those that can be restored."""
        ...

    def relation_of(self, internal_id: UUID) -> Relation | None:
        """Return what the logs name of the customer of an internal organization; None for any other organization."""
        ...

    def set_external_id(self, service: Service, customer_id: UUID, external_id: str | None) -> None:
        """Store the external id of a customer or offer."""
        ...

    def set_metadata(self, service: Service, customer_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Store what the vendor notes about a customer or offer."""
        ...

    def set_vendor_pause(self, service: Service, customer_id: UUID, paused_at: datetime | None) -> None:
        """Store since when the vendor has paused a customer, or end the pause with None."""
        ...

    def remove(self, service: Service, customer_id: UUID) -> None:
        """Delete a customer or offer with all that belongs to it."""
        ...

    def begun_since(self, service: Service, since: datetime, *, limit: int) -> Sequence[UUID]:
        """Return customers that began to use a service on their own, without an offer, since a moment."""
        ...

    def end_these(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[Relation]:
        """Delete these customers and offers of a service, and return them."""
        ...

    def end_unclaimed(
        self, vendor_id: UUID, customer_ids: Sequence[UUID] | None, *, deletes_at: datetime
    ) -> Sequence[Relation]:
        """End the customers that no person owns among these, or among all with None, and return them.

        They can be restored until `deletes_at`, when their organizations are deleted. Their claim links go at once.
        """
        ...

    def end_all_of(self, organization_id: UUID, *, deletes_at: datetime) -> Sequence[Relation]:
        """Delete the customers and offers of the services of an organization, and its use of other vendors' services.

        Return those that were in use. Customers that no person owns end as by `end_unclaimed`. Offers to the
        organization stay: they show nothing of it.
        """
        ...
