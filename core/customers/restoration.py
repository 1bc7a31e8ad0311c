"""Restores a customer that no person owned when its vendor ended it, with what the vendor has made for it.

Once it can be restored no longer, its organization is deleted for good (`core/platform/ended_organizations.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import customers, relations
from core.customers.customers import CustomerUnknown, ExternalIdTaken, NotForCustomers, ServiceCustomer, Vendor
from core.customers.relations import RelationChange
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.services import access
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The page lists so many; more show once some of these are restored or gone.
SHOWN_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCustomer:
    """A customer that has ended, and that its vendor may restore until `deletes_at`."""

    id: UUID
    organization_id: UUID
    name: str
    external_id: str | None
    ended_at: datetime
    deletes_at: datetime


def list_ended_of(uow: UnitOfWork, service: Service) -> Sequence[EndedCustomer]:
    """List the customers of a service that can be restored, the latest end first; the caller is authorized."""
    return uow.ended_customers.of_service(service, at=uow.now, limit=SHOWN_MAX)


def show_ended(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> EndedCustomer:
    """Return a customer that can be restored; raise `CustomerUnknown` for any other."""
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    ended = uow.ended_customers.find(service, customer_id, at=uow.now)
    if ended is None:
        raise CustomerUnknown
    return ended


def restore(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> ServiceCustomer:
    """Restore a customer as a member does, as `restore_by` says."""
    return restore_by(uow, customers.authorize_vendor(uow, slug, service_slug, Operation.CUSTOMER_OFFER), customer_id)


def restore_by(uow: UnitOfWork, vendor: Vendor, customer_id: UUID) -> ServiceCustomer:
    """Restore a customer that has ended, and its organization, which no person owns.

    Raise `CustomerUnknown` for one that cannot be restored, `ExternalIdTaken` where another customer has its external
    id, and `NotForCustomers`.
    """
    service = vendor.service
    ended = uow.ended_customers.lock(service, customer_id, at=uow.now)
    if ended is None:
        raise CustomerUnknown
    if not service.serves_customers:
        raise NotForCustomers
    # Locked, so that no customer begins with the external id between the check and the restoration.
    uow.services.lock(service)
    taken = uow.service_customers.taken(
        service, slug=None, external_id=ended.external_id, other_than=ended.id, at=uow.now
    )
    if taken.is_external_id:
        raise ExternalIdTaken
    # The organization first: by its status the database opens what was made for the customer.
    uow.deleted_organizations.restore(ended.organization_id)
    uow.ended_customers.restore(service, ended.id)
    customer = customers.find(uow, service, ended.id)
    relations.record_by_vendor(
        uow, customers.relation(vendor.organization, service, customer), RelationChange.ACCEPTED, restored=True
    )
    return customer
