"""The customers of a service, as its vendor sees them: offers to organizations, and organizations that use it.

What the customer does, such as accepting an offer, is in `products.py`. Each side sees its half (ops/decisions/0069):
the vendor never learns the id of the organization, nor whether there is one under the slug to which it offers a
service. Making an organization for a customer is in `made_customers.py`. Members of the vendor do all of it, and so
does its program with a key of the service, by the same rules and limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core import metadata
from core.customers import relation_log
from core.customers.relation_log import CustomerState, Relation, RelationChange
from core.errors import BadRequest, Conflict, NotFound, RateLimitExceeded, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.metadata import MetadataPatch
from core.organizations.access import Operation
from core.organizations.organizations import RESTORABLE_FOR, Organization
from core.positions import Position
from core.services import api_keys, service_access
from core.services.api_keys import Permission
from core.services.services import Service
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.text import checked_slug
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

OFFER_LIFETIME: Final = timedelta(days=30)
# An organization offers all of its services together so often: each offer asks a stranger for an answer.
OFFERS_MAX: Final = 100
OFFERS_WINDOW: Final = timedelta(hours=1)
EXTERNAL_ID_CHARACTERS_MAX: Final = 255


class NotForCustomers(BadRequest):
    """The service is not open to organizations as customers."""

    default_message = "This service has no customers. Set its customers to listed or any first."


class CustomerUnknown(NotFound):
    """The service has no such customer or open offer."""

    default_message = "This service has no such customer."


class AlreadyOffered(Conflict):
    """An open offer names the slug already."""

    default_message = "This service has been offered to this slug already. Withdraw the offer before you make another."


class AlreadyCustomer(Conflict):
    """The organization uses the service already."""

    default_message = "This organization is a customer of the service already."


class ExternalIdTaken(Conflict):
    """Another customer or offer of the service has the external id."""

    default_message = "Another customer or offer of this service has this external id already."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCustomer:
    """A customer of a service, or an offer to become one.

    For an offer, the slug is the one that the vendor typed, and organization and name are None. `is_unclaimed` means
    that the vendor made the organization and no person owns it yet; otherwise `vendor_setup` are the parts that its
    owner lets the vendor set up. `has_internal` says that the vendor has made something for it
    (`setup_callers.py`).
    """

    id: UUID
    organization_id: UUID | None
    slug: str
    name: str | None
    external_id: str | None
    is_accepted: bool
    is_paused_by_vendor: bool
    is_paused_by_customer: bool
    shares_directory: bool
    is_unclaimed: bool
    has_internal: bool
    vendor_setup: Sequence[str] = ()
    last_sign_in_at: datetime | None
    created_at: datetime
    metadata: dict[str, Any]

    @property
    def state(self) -> CustomerState:
        """Whether it is an offer, else whether its people may use the service."""
        is_paused = self.is_paused_by_vendor or self.is_paused_by_customer
        return relation_log.state_of(is_accepted=self.is_accepted, is_paused=is_paused)

    @property
    def position(self) -> Position:
        """The place of the customer in the list of the console."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOffer:
    """A new offer of a service to the organization with a slug, if there is one."""

    id: UUID
    slug: str
    external_id: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCustomer:
    """A new customer of a service, with an organization that the vendor has made."""

    id: UUID
    organization_id: UUID
    external_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenNames:
    """The names of a new offer that another customer or offer of the service has already."""

    is_customer: bool
    is_offered: bool
    is_external_id: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomersPage:
    """A part of the customers and offers of a service, and how many there are."""

    customers: Sequence[ServiceCustomer]
    total: int


@dataclass(frozen=True, slots=True)
class VendorPath:
    """A service as a request names it: a member names organization and service, a key of the service neither."""

    org_slug: str | None = None
    service_slug: str | None = None


# The service of the key that calls.
OF_KEY: Final = VendorPath()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """The vendor in a use case that changes customers: its organization, which is locked, and the service.

    `caller` is the member who acts for it; None for the program of the service, which calls with a key.
    """

    organization: Organization
    service: Service
    caller: Caller | None

    def forbid_lasting(self) -> None:
        """Raise `OutlastsImpersonation` for an impersonator, whose change would outlast the impersonation."""
        if self.caller is not None:
            self.caller.require(Act.LASTING)


def offer(uow: UnitOfWork, of: VendorPath, *, organization: str, external_id: str | None) -> ServiceCustomer:
    """Offer a service to the organization with a slug; the result is the same whether there is one.

    Raise `NotForCustomers`, `AlreadyCustomer`, `AlreadyOffered`, `ExternalIdTaken`, and `RateLimitExceeded` after too
    many offers.
    """
    vendor = authorize_vendor(uow, of, Operation.CUSTOMER_OFFER)
    service = vendor.service
    _, typed = all_valid(
        lambda: require_external_id(external_id),
        lambda: _checked_organization(organization, vendor.organization.slug),
    )
    if not service.serves_customers:
        raise NotForCustomers
    # Locked, so that no customer begins between the checks and the offer.
    uow.services.lock(service)
    _count_offer(uow, service.organization_id)
    taken = uow.service_customers.taken(service, slug=typed, external_id=external_id, other_than=None, at=uow.now)
    if taken.is_customer:
        raise AlreadyCustomer
    if taken.is_offered:
        raise AlreadyOffered
    if taken.is_external_id:
        raise ExternalIdTaken
    made = ServiceOffer(
        id=uow.randomness.new_id(),
        slug=typed,
        external_id=external_id,
        created_at=uow.now,
        expires_at=uow.now + OFFER_LIFETIME,
    )
    uow.service_customers.offer(service, made)
    customer = find(uow, service, made.id)
    uow.record(
        AuditAction.CUSTOMER_OFFERED,
        customer.id,
        organization_id=service.organization_id,
        **relation(vendor.organization, vendor.service, customer).seen_by_vendor,
    )
    return customer


def list_page(uow: UnitOfWork, of: VendorPath, *, search: str, limit: int, offset: int) -> CustomersPage:
    """List customers and open offers of a service, the newest first.

    `search` finds customers and offers by a part of the slug or the external id, and customers by a part of the name.
    """
    service = authorize_reader(uow, of, Operation.CUSTOMERS_READ)
    part = search.strip().lower()
    return uow.elsewhere.service_customers.page(service, part=part, at=uow.now, limit=limit, offset=offset)


def show(uow: UnitOfWork, of: VendorPath, customer_id: UUID) -> ServiceCustomer:
    """Return a customer or open offer; raise `CustomerUnknown` when the service has none with that id."""
    return find(uow, authorize_reader(uow, of, Operation.CUSTOMERS_READ), customer_id)


def find(uow: UnitOfWork, service: Service, customer_id: UUID) -> ServiceCustomer:
    """Return a customer or open offer of a service; raise `CustomerUnknown` when it has none with that id."""
    customer = uow.service_customers.find(service, customer_id, at=uow.now)
    if customer is None:
        raise CustomerUnknown
    return customer


def change(uow: UnitOfWork, of: VendorPath, customer_id: UUID, changes: Mapping[str, Any]) -> ServiceCustomer:
    """Change the external id and the metadata of a customer or offer, and set or lift the vendor's pause of a customer.

    Raise `CustomerUnknown`, `ExternalIdTaken`, and `BadRequest` for the pause of an offer.
    """
    vendor = authorize_vendor(uow, of, Operation.CUSTOMERS_CHANGE)
    noted = MetadataPatch(names=changes["metadata"]) if "metadata" in changes else MetadataPatch(names={})
    all_valid(
        lambda: require_external_id(changes.get("external_id")),
        lambda: noted.applied_to({}),
    )
    uow.services.lock(vendor.service)
    before = find(uow, vendor.service, customer_id)
    after = replace(
        before,
        external_id=changes.get("external_id", before.external_id),
        is_paused_by_vendor=changes.get("paused", before.is_paused_by_vendor),
    )
    if after.external_id != before.external_id:
        _set_external_id(uow, vendor, before, after)
    if after.is_paused_by_vendor != before.is_paused_by_vendor:
        _set_pause(uow, vendor, after)
    metadata_after = noted.applied_to(before.metadata)
    if metadata.is_changed(before.metadata, metadata_after):
        _note(uow, vendor, before, metadata_after)
    return find(uow, vendor.service, customer_id)


def end(uow: UnitOfWork, of: VendorPath, customer_id: UUID) -> None:
    """Withdraw an offer, or end the use of the service by a customer; a later beginning is another record.

    A customer that no person owns can be restored for a while (`made_customers.py`).
    """
    vendor = authorize_vendor(uow, of, Operation.CUSTOMERS_CHANGE)
    service = vendor.service
    customer = find(uow, service, customer_id)
    if customer.organization_id is not None:
        # Locked before the service, as in `claiming.claim`.
        uow.organizations.lock(customer.organization_id)
    uow.services.lock(service)
    customer = find(uow, service, customer_id)
    if customer.is_unclaimed:
        uow.service_customers.end_unclaimed(service.organization_id, [customer.id], deletes_at=uow.now + RESTORABLE_FOR)
    else:
        uow.service_customers.remove(service, customer.id)
    relation_log.record_by_vendor(uow, relation(vendor.organization, vendor.service, customer), RelationChange.ENDED)


def authorize_reader(uow: UnitOfWork, of: VendorPath, operation: Operation) -> Service:
    """Authorize a member of the vendor, or the program of the service, to read customers; return the service."""
    if of.org_slug is None or of.service_slug is None:
        return api_keys.service_of(uow, api_keys.authorize(uow, Permission.READ_CUSTOMERS))
    return service_access.authorize(uow, of.org_slug, of.service_slug, operation).service


def authorize_vendor(
    uow: UnitOfWork, of: VendorPath, operation: Operation, permission: Permission = Permission.WRITE_CUSTOMERS
) -> Vendor:
    """Authorize a member of the vendor, or the program of the service, for a change, and lock the organization."""
    if of.org_slug is None or of.service_slug is None:
        # Locked before the use of the key is recorded, because deleting the service locks the organization first.
        organization = uow.organizations.lock(uow.service_caller.organization_id)
        service = api_keys.service_of(uow, api_keys.authorize(uow, permission))
        assert organization is not None, "a service has no organization"
        return Vendor(organization=organization, service=service, caller=None)
    authorized = service_access.authorize_and_lock(uow, of.org_slug, of.service_slug, operation)
    return Vendor(organization=authorized.organization, service=authorized.service, caller=authorized.caller)


def _set_external_id(uow: UnitOfWork, vendor: Vendor, before: ServiceCustomer, after: ServiceCustomer) -> None:
    """Store another external id; raise `ExternalIdTaken`. The service tells its customers apart by it."""
    vendor.forbid_lasting()
    service = vendor.service
    taken = uow.service_customers.taken(
        service, slug=None, external_id=after.external_id, other_than=after.id, at=uow.now
    )
    if taken.is_external_id:
        raise ExternalIdTaken
    uow.service_customers.set_external_id(service, after.id, after.external_id)
    uow.record(
        AuditAction.SERVICE_UPDATED,
        service.id,
        organization_id=service.organization_id,
        audit_only={"old_external_id": before.external_id},
        change="customer_changed",
        **relation(vendor.organization, vendor.service, after).seen_by_vendor,
    )


def _set_pause(uow: UnitOfWork, vendor: Vendor, after: ServiceCustomer) -> None:
    if not after.is_accepted:
        raise BadRequest.of_field("paused", "An offer cannot be paused. Withdraw it instead.")
    service, is_paused = vendor.service, after.is_paused_by_vendor
    if not is_paused:
        vendor.forbid_lasting()
    uow.service_customers.set_vendor_pause(service, after.id, uow.now if is_paused else None)
    change = RelationChange.PAUSED if is_paused else RelationChange.RESUMED
    relation_log.record_by_vendor(uow, relation(vendor.organization, vendor.service, after), change)


def _note(uow: UnitOfWork, vendor: Vendor, customer: ServiceCustomer, after: Mapping[str, Any]) -> None:
    """Store what the vendor notes about a customer; the customer's own log does not record it."""
    vendor.forbid_lasting()
    service = vendor.service
    uow.service_customers.set_metadata(service, customer.id, after)
    uow.record(
        AuditAction.CUSTOMER_CHANGED,
        customer.id,
        organization_id=service.organization_id,
        **relation(vendor.organization, service, customer).seen_by_vendor,
        metadata=metadata.changed_names(customer.metadata, after),
    )


def _count_offer(uow: UnitOfWork, organization_id: UUID) -> None:
    """Count an offer; raise `RateLimitExceeded` when the organization has made as many within an hour already."""
    seconds = seconds_until_free(uow, "offers to customers", organization_id)
    if seconds is not None:
        raise RateLimitExceeded(
            Wording(
                "Your organization has offered its services %(maximum)s times within an hour, which is the maximum."
                " Try again later.",
                maximum=OFFERS_MAX,
            ),
            retry_after_seconds=seconds,
        ).of("customer_offers", counts="offers")


def seconds_until_free(uow: UnitOfWork, what: str, organization_id: UUID) -> int | None:
    """Count an action against its hourly maximum for an organization; return the seconds until it may act again.

    None means that the count is within the maximum.
    """
    if not uow.has_rate_limits:
        return None
    key = uow.pepper.mark(what, organization_id.bytes)
    free_at = uow.mail_counts.add(key, OFFERS_MAX, OFFERS_WINDOW, at=uow.now)
    return max(1, ceil((free_at - uow.now).total_seconds())) if free_at is not None else None


def _checked_organization(text: str, own_slug: str) -> str:
    slug = checked_slug(text, "organization")
    if slug == own_slug:
        raise BadRequest.of_field("organization", "An organization is no customer of its own services.")
    return slug


def require_external_id(text: str | None) -> None:
    """Raise `BadRequest` for a text that is no valid external id; None is valid."""
    if text is None:
        return
    if not 1 <= len(text) <= EXTERNAL_ID_CHARACTERS_MAX or not text.isprintable():
        raise BadRequest.of_field(
            "external_id",
            Wording(
                "An external id has 1 to %(maximum)s characters, without control characters.",
                maximum=EXTERNAL_ID_CHARACTERS_MAX,
            ),
        )


def relation(vendor: Organization, service: Service, customer: ServiceCustomer) -> Relation:
    """Return the relation that the logs record for a customer or an offer of this service."""
    return Relation(
        customer_id=customer.id,
        vendor_id=vendor.id,
        vendor_slug=vendor.slug,
        vendor_name=vendor.name,
        service_slug=service.slug,
        service_name=service.name,
        client_id=service.client_id,
        external_id=customer.external_id,
        customer_organization_id=customer.organization_id,
        customer_slug=customer.slug,
        customer_name=customer.name,
    )
