"""Customers that a vendor makes: an organization that no person owns yet, and its active customer record, at once.

A member of the vendor makes one, or its program with a key of the service. Until a person claims the organization it
has no member, and only the lists of the vendor and the platform show it. It waits for approval like any new
organization, and meanwhile only the relation works (`IS_WORKING` of the storage). One that has ended is restored with
what the vendor has made for it, until its organization is deleted for good (`core/platform/ended_organizations.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import claiming, customers, relation_log
from core.customers.customers import (
    OFFERS_MAX,
    CustomerUnknown,
    ExternalIdTaken,
    MadeCustomer,
    NotForCustomers,
    ServiceCustomer,
    VendorPath,
)
from core.customers.relation_log import RelationChange
from core.errors import RateLimitExceeded, all_valid
from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.organizations.access import Operation
from core.organizations.organizations import Organization, checked_name
from core.services import service_access
from core.services.services import Service
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Of all services of a vendor together, with the ended customers that can be restored.
UNCLAIMED_MAX: Final = 1_000
# The vendor waits until one of these customers is claimed, ends, or can be restored no longer.
RETRY_UNCLAIMED_SECONDS: Final = 3_600


def create(
    uow: UnitOfWork,
    of: VendorPath,
    *,
    name: str,
    external_id: str | None,
    owner_email: str | None = None,
    is_welcome: bool,
) -> ServiceCustomer:
    """Make an organization for a customer of a service; it waits for approval unless `is_welcome` is set.

    The link that makes its reader the owner is mailed to `owner_email`, if it is given. Raise `NotForCustomers`,
    `ExternalIdTaken`, and `RateLimitExceeded` after too many within an hour, and with too many unclaimed ones.
    """
    vendor = customers.authorize_vendor(uow, of, Operation.CUSTOMER_OFFER)
    service = vendor.service
    name, _, address = all_valid(
        lambda: checked_name(name),
        lambda: customers.require_external_id(external_id),
        lambda: claiming.checked_address(uow, owner_email, "owner_email") if owner_email is not None else None,
    )
    if not service.serves_customers:
        raise NotForCustomers
    # Locked, so that no customer begins with the external id between the check and this one.
    uow.services.lock(service)
    _count(uow, vendor.organization)
    taken = uow.service_customers.taken(service, slug=None, external_id=external_id, other_than=None, at=uow.now)
    if taken.is_external_id:
        raise ExternalIdTaken
    new = management.new_organization(uow, "", name)
    organization = management.add_unclaimed(uow, new.approved(by=None, at=uow.now) if is_welcome else new)
    made = MadeCustomer(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        external_id=external_id,
        created_at=uow.now,
    )
    uow.service_customers.make(service, made)
    customer = customers.find(uow, service, made.id)
    relation_log.record_by_vendor(
        uow, customers.relation(vendor.organization, service, customer), RelationChange.ACCEPTED
    )
    if address is not None:
        claiming.send_link(uow, vendor, customer, address)
    return customer


def _count(uow: UnitOfWork, vendor: Organization) -> None:
    seconds = customers.seconds_until_free(uow, "customers that are made", vendor.id)
    if seconds is not None:
        raise RateLimitExceeded(
            Wording(
                "Your organization has made %(maximum)s customers within an hour, which is the maximum. Try again"
                " later.",
                maximum=OFFERS_MAX,
            ),
            retry_after_seconds=seconds,
        ).of("made_customers", counts="customers")
    if uow.service_customers.count_unclaimed(vendor.id) >= UNCLAIMED_MAX:
        raise RateLimitExceeded(
            Wording(
                "Your organization has %(maximum)s customers that no person has claimed, which is the maximum. Name an"
                " owner for some of them, or end them.",
                maximum=UNCLAIMED_MAX,
            ),
            retry_after_seconds=RETRY_UNCLAIMED_SECONDS,
        ).of("unclaimed_customers", counts="customers")


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
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    ended = uow.ended_customers.find(service, customer_id, at=uow.now)
    if ended is None:
        raise CustomerUnknown
    return ended


def restore(uow: UnitOfWork, of: VendorPath, customer_id: UUID) -> ServiceCustomer:
    """Restore a customer that has ended, and its organization, which no person owns.

    Raise `CustomerUnknown` for one that cannot be restored, `ExternalIdTaken` where another customer has its external
    id, and `NotForCustomers`.
    """
    vendor = customers.authorize_vendor(uow, of, Operation.CUSTOMER_OFFER)
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
    relation_log.record_by_vendor(
        uow, customers.relation(vendor.organization, service, customer), RelationChange.ACCEPTED, restored=True
    )
    return customer
