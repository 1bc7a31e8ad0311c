"""Storage of the customers of a service: making, claiming, restoring, listing and counting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol
from uuid import UUID

from core.customers.claiming import ClaimLink, MadeThings, NamedOwner
from core.customers.customers import CustomersPage, MadeCustomer, ServiceCustomer, ServiceOffer, TakenNames
from core.customers.found_customers import CustomerCounts, CustomerFigures, CustomerFilter, NamedCustomer
from core.customers.made_customers import EndedCustomer
from core.customers.made_for_us import MadeThingsPage, ThingForUs
from core.customers.my_applications import OwnCustomer
from core.customers.relation_log import Relation
from core.customers.service_settings import RoleUses
from core.customers.usage import ServiceUsage
from core.positions import Position
from core.services.services import Service
from core.sessions.token_additions import TokenSubject


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


class CustomerClaims(Protocol):
    """The latest claim link of each customer that a vendor has made."""

    def put(self, service: Service, customer_id: UUID, owner: NamedOwner, *, token_hash: bytes) -> None:
        """Store the link of a customer, replacing an earlier one."""
        ...

    def named(self, service: Service, customer_id: UUID) -> NamedOwner | None:
        """Return the person that the latest link of a customer was mailed to; None without a link."""
        ...

    def by_token(self, token_hash: bytes, *, at: datetime) -> ClaimLink | None:
        """Return a link that has not expired, of an unclaimed customer or of one that was claimed by it; else None.

        None also when the customer has ended, or its organization or vendor is neither pending nor active.
        """
        ...

    def settle(self, relation: Relation, *, name: str, slug: str, parts: Sequence[str]) -> bool:
        """Give the locked organization of a customer its owner's name and slug, and mark it and its link as claimed.

        Return False when the slug is taken, also by a concurrent transaction.
        """
        ...

    def withdraw(self, service: Service, customer_id: UUID, *, made_since: datetime) -> bool:
        """Delete the open link of a customer if it was mailed since a moment; return False when there is none."""
        ...

    def mail_domains(self, customer_id: UUID) -> Sequence[str]:
        """Return the mail domains that are proved for a customer."""
        ...

    def made_for(self, customer_id: UUID) -> MadeThings:
        """Count what the vendor has made for a customer."""
        ...

    def end_setup_links(self, customer_id: UUID, parts: Sequence[str]) -> int:
        """Delete the setup links to any of these parts that the vendor has made for a customer; return how many."""
        ...

    def replace_scim_tokens(self, customer_id: UUID) -> None:
        """Replace the SCIM tokens that the vendor has made for a customer by random ones that are shown to no one."""
        ...


class EndedCustomers(Protocol):
    """Customers that no person owned when they ended, until they are restored or deleted for good."""

    def of_service(self, service: Service, *, at: datetime, limit: int) -> Sequence[EndedCustomer]:
        """List the customers of a service that can be restored at that time, the last to end first."""
        ...

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        """Return a customer that can be restored at that time; None for any other."""
        ...

    def lock(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        """Lock and return a customer that can be restored at that time, with its organization; None for any other."""
        ...

    def restore(self, service: Service, customer_id: UUID) -> None:
        """Make a locked customer active again, with the organization and the external id that it had."""
        ...


class OwnCustomers(Protocol):
    """Customers of services, by their people."""

    def of_user(self, vendor_id: UUID, service_id: UUID, user_id: UUID, *, limit: int) -> Sequence[OwnCustomer]:
        """Return the active customers of a service for which the user has signed in and still may, the latest first.

        Memberships that the user has not confirmed do not count.
        """
        ...


class MadeForUs(Protocol):
    """The things that vendors have made for their customers: they lie in the customers' internal organizations."""

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> MadeThingsPage:
        """Return a page of these things, by vendor, service and kind, without setup links that have expired."""
        ...

    def find(self, organization_id: UUID, thing_id: UUID) -> ThingForUs | None:
        """Return one of these things; None when there is none with that id."""
        ...

    def own_group(self, organization_id: UUID, name: str) -> UUID | None:
        """Return the group of the organization's own directory with a name, in any case; None without one."""
        ...


class FoundCustomers(Protocol):
    """The customers of one service and its open offers, or of all services of a vendor.

    With a part, in lower case, only those with it in the slug, the external id or, for a customer, the name.
    """

    def page(
        self,
        service: Service,
        *,
        part: str,
        at: datetime,
        after: Position | None,
        limit: int,
        state: CustomerFilter | None = None,
        offers: bool = True,
    ) -> Sequence[ServiceCustomer]:
        """Return them from a position on, newest first, all or those in a state; without `offers` only customers."""
        ...

    def named(
        self, organization_id: UUID, *, part: str, at: datetime, looked_at_max: int, limit: int
    ) -> Sequence[NamedCustomer]:
        """Return the customers of all services of a vendor with a part in slug or name, of the first `looked_at_max`.

        A customer whose whole slug is the part is always found.
        """
        ...

    def count(
        self, service: Service, *, part: str, at: datetime, counted_max: int, state: CustomerFilter | None = None
    ) -> int:
        """Count them, all or those in a state, up to `counted_max`."""
        ...

    def counts(self, service: Service, *, part: str, at: datetime) -> CustomerCounts:
        """Count them by state."""
        ...

    def figures(self, service: Service, customer_id: UUID, *, counted_max: int) -> CustomerFigures:
        """Count who uses the service for a customer, each kind up to `counted_max`."""
        ...


class ServiceRoleUses(Protocol):
    """The uses of the roles of a service, by its customers and by its own program."""

    def count(self, service: Service, name: str, *, counted_max: int) -> RoleUses:
        """Count the assignments with a role, and the people who have it otherwise, each up to `counted_max`."""
        ...


class CustomerUsages(Protocol):
    """People who were active in months, each counted once."""

    def of_customer(self, service: Service, customer_id: UUID, month: date) -> int:
        """Count the people who have used a service for a customer in a month."""
        ...

    def of_service(self, service: Service, month: date, *, limit: int) -> ServiceUsage:
        """Count the people who have used a service in a month, for each of at most `limit` customers and in all."""
        ...


class TokenPreviews(Protocol):
    """The subjects of tokens of imagined sessions."""

    def subject(self, service: Service, user_id: UUID, customer_id: UUID | None) -> TokenSubject | None:
        """Return what `Callers.subject` would return for a session that began now, also for a service without claims.

        The sign-in that the customer requires counts as done. Without a customer, None for an account that is neither a
        confirmed member of the organization nor an end user who has signed in to the service.
        """
        ...
