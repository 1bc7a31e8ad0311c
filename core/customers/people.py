"""The people of a customer as its vendor sees and finds them, and the roles that the vendor gives them.

The vendor sees who has signed in to its service for the customer. Where the customer shares its directory, the vendor
also sees who may: members with a confirmed membership to which the customer gives access. Of each person it sees the
name, the address, the roles of the service, and when they last signed in for this customer; a name that only the
customer's directory knows, only where the customer shares that.

The roles that the vendor gives add to the ones that the customer assigns, and admit no person. A member may do what the
program may, and needs the capabilities of the maker of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.customers import customers
from core.customers.customers import ServiceCustomer, Vendor, VendorPath
from core.email_addresses import part_of_email
from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.positions import BEGIN, FoundRows, Position
from core.services import service_access
from core.services.services import Service
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class CustomerPersonUnknown(NotFound):
    """The account has not signed in for the customer, or is none of its members any more, whether or not it exists."""

    default_message = "No person with this id has signed in for this customer."


class OwnRolesChanged(Conflict):
    """The vendor has given the person other roles since the caller saw them."""

    default_message = "The roles of this person have been changed meanwhile. Look at them, and set them again."


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerPerson:
    """A person of a customer, as the vendor sees them; `id` is the `sub` of their tokens.

    `service_roles` are the names of all their roles there, and `own_roles` of the roles that the vendor gives;
    `last_sign_in_at` is None for a person who has not signed in for this customer.
    """

    id: UUID
    email: str
    name: str | None
    service_roles: list[str]
    own_roles: list[str]
    last_sign_in_at: datetime | None
    # What the service notes about them, whatever the context.
    metadata: dict[str, Any]

    @property
    def position(self) -> Position:
        """The place of the person in the list, which the id alone decides."""
        return Position(at=BEGIN.at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPerson:
    """A person with other roles; `is_told` says whether the vendor gets an event: not for a person who was removed."""

    person: CustomerPerson
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerPeoplePage:
    """A part of the people of a customer and their number: exact up to `COUNTED_MAX`, and one more than that beyond."""

    users: Sequence[CustomerPerson]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSought:
    """The people of a customer to list: by a part of their address or name, and by a role; only ids after `after`."""

    search: str
    role: str | None
    after: UUID | None
    limit: int
    offset: int


def of_customer(
    uow: UnitOfWork, service: Service, customer: ServiceCustomer, sought: PeopleSought
) -> CustomerPeoplePage:
    """Return people of a customer, by their ids; an offer has none."""
    if not customer.is_accepted:
        return CustomerPeoplePage(users=[], total=0)
    part = part_of_email(sought.search, uow.domain_names.to_ascii)
    return uow.elsewhere.customer_people.page(service, customer, replace(sought, search=part))


def set_roles(
    uow: UnitOfWork,
    of: VendorPath,
    customer_id: UUID,
    user_id: UUID,
    roles: Sequence[str],
    *,
    seen: Sequence[str] | None = None,
) -> CustomerPerson:
    """Replace the roles that the vendor gives a person who has signed in for a customer.

    For a person who was removed since there is no event, because it would say that they are admitted again. Raise
    `CustomerUnknown`, `CustomerPersonUnknown`, `BadRequest` for roles that the service does not have, and
    `OwnRolesChanged` when the present roles are not `seen`, where the caller names them.
    """
    vendor = customers.authorize_vendor(uow, of, Operation.CUSTOMER_PEOPLE_CHANGE)
    # Locked, so that no role is deleted meanwhile; a later role of the same name must not inherit this.
    uow.services.lock(vendor.service)
    wanted = sorted(set(roles))
    require_roles(vendor.service, wanted, field="roles")
    customer = customers.find(uow, vendor.service, customer_id)
    before = uow.customer_people.lock(vendor.service, customer, user_id) if customer.is_accepted else None
    if before is None:
        raise CustomerPersonUnknown
    if seen is not None and set(before.own_roles) != set(seen):
        raise OwnRolesChanged
    if before.own_roles == wanted:
        return before
    if not set(wanted) <= set(before.own_roles):
        vendor.forbid_lasting()
    changed = uow.customer_people.set_roles(vendor.service, customer, user_id, wanted)
    after = changed.person
    shown = _seen(vendor, customer, after)
    of_roles: dict[str, Any] = {"own_roles": after.own_roles, "old_own_roles": before.own_roles}
    action, organization_id = AuditAction.CUSTOMER_USER_CHANGED, vendor.organization.id
    if not changed.is_told:
        uow.audit(action, after.id, organization_id=organization_id, **shown, **of_roles)
        return after
    uow.record(
        action,
        after.id,
        organization_id=organization_id,
        audit_only=of_roles,
        event_only={"email": after.email, "name": after.name},
        **shown,
    )
    return after


def _seen(vendor: Vendor, customer: ServiceCustomer, person: CustomerPerson) -> dict[str, Any]:
    return {
        "customer_id": str(customer.id),
        "external_id": customer.external_id,
        "client_id": str(vendor.service.client_id),
        "service_slug": vendor.service.slug,
        "user_id": str(person.id),
        "service_roles": person.service_roles,
    }


def require_roles(service: Service, names: Sequence[str], *, field: str) -> None:
    """Raise `BadRequest` for the name of a role that the service does not have."""
    missing = set(names) - {role.name for role in service.roles}
    if missing:
        raise BadRequest.of_field(field, Wording("The service has no role %(role)s.", role=min(missing)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFilter:
    """The people to find: by a part of their address or name, and by a role; an unknown role finds everyone."""

    search: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfCustomer:
    """A customer, and a part of its people."""

    customer: ServiceCustomer
    rows: FoundRows[CustomerPerson]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonOfCustomer:
    """A customer, and one of its people."""

    customer: ServiceCustomer
    person: CustomerPerson


def search(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    wanted: PeopleFilter,
    after: Position | None,
    limit: int,
) -> PeopleOfCustomer:
    """Find people of a customer, by their ids; raise `CustomerUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    # One more than the page shows tells whether more follow.
    page = of_customer(uow, service, customer, _sought(service, wanted, after, limit + 1))
    shown = page.users[:limit]
    rows = FoundRows(found=shown, total=page.total, next=shown[-1].position if len(page.users) > limit else None)
    return PeopleOfCustomer(customer=customer, rows=rows)


def listed(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    wanted: PeopleFilter,
    after: Position | None,
    limit: int,
) -> Sequence[CustomerPerson]:
    """Return a part of what `search` finds; for files."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    return of_customer(uow, service, customer, _sought(service, wanted, after, limit)).users


def show(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID, user_id: UUID) -> PersonOfCustomer:
    """Return a person who has signed in for a customer; raise `CustomerUnknown` and `CustomerPersonUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    person = uow.customer_people.find(service, customer, user_id) if customer.is_accepted else None
    if person is None:
        raise CustomerPersonUnknown
    return PersonOfCustomer(customer=customer, person=person)


def _sought(service: Service, wanted: PeopleFilter, after: Position | None, limit: int) -> PeopleSought:
    return PeopleSought(
        search=wanted.search,
        role=wanted.role if wanted.role in {one.name for one in service.roles} else None,
        after=after.id if after is not None else None,
        limit=limit,
        offset=0,
    )
