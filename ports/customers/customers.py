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

        With a part, in lower case, those whose slug or external id contains it, and customers whose name does.
        """
        ...

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> ServiceCustomer | None:
        """Return a customer or open offer of a service; None when it has none with that id."""
        ...

    def keep(self, service: Service, customer_id: UUID) -> None:
        """Let no transaction delete a customer before this one ends; nothing when there is none any more."""
        ...

    def lock_services(self, organization_id: UUID) -> None:
        """Lock the services of an organization, so that none gets a customer before the transaction ends."""
        ...

    def taken(
        self, service: Service, *, slug: str | None, external_id: str | None, other_than: UUID | None, at: datetime
    ) -> TakenNames:
        """Return which of these names another customer or open offer has, and delete expired offers that have one."""
        ...

    def offer(self, service: Service, offer: ServiceOffer) -> None:
        """Store an offer; it is bound to the organization that has its slug now, in the same statement."""
        ...

    def make(self, service: Service, made: MadeCustomer) -> None:
        """Store an active customer, whose organization the vendor has made in this transaction."""
        ...

    def count_unclaimed(self, vendor_id: UUID) -> int:
        """Count the organizations that a vendor has made and no person owns, those included that can be restored."""
        ...

    def relation_of(self, internal_id: UUID) -> Relation | None:
        """Return what the logs say of the customer that an internal organization is of; None for any other one."""
        ...

    def set_external_id(self, service: Service, customer_id: UUID, external_id: str | None) -> None:
        """Store the external id of a customer or offer."""
        ...

    def set_metadata(self, service: Service, customer_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Store what the vendor notes about a customer or offer."""
        ...

    def set_vendor_pause(self, service: Service, customer_id: UUID, paused_at: datetime | None) -> None:
        """Store since when the vendor has paused a customer; None for not at all."""
        ...

    def remove(self, service: Service, customer_id: UUID) -> None:
        """Delete a customer or offer with all that belongs to it."""
        ...

    def begun_since(self, service: Service, since: datetime, *, limit: int) -> Sequence[UUID]:
        """Return customers that have begun to use a service by themselves, without an offer, since a moment."""
        ...

    def end_these(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[Relation]:
        """Delete these customers and offers of a service, and return them."""
        ...

    def end_unclaimed(
        self, vendor_id: UUID, customer_ids: Sequence[UUID] | None, *, deletes_at: datetime
    ) -> Sequence[Relation]:
        """End those of these customers that no person owns, until they are restored, and return them; None for all.

        Their organizations are deleted for good at that time, and their links to claim them at once.
        """
        ...

    def end_all_of(self, organization_id: UUID, *, deletes_at: datetime) -> Sequence[Relation]:
        """Delete the customers and offers of the services of an organization, and its use of services of others.

        Return those that were in use. Customers that no person owns end as by `end_unclaimed`. Offers to the
        organization stay: they show nothing of it.
        """
        ...
