"""The people of a customer as the console shows them to its vendor: a search by address, name and role, and one person.

Which people the vendor sees, and the roles that it gives, is in `people.py`, as for its program. A member may do what
the program may, and needs the capabilities of the maker of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import customers, people
from core.customers.customers import ServiceCustomer
from core.customers.people import CustomerPerson, CustomerPersonUnknown, PeopleSought
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.positions import FoundRows, Position
from core.services import access
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    # One more than the page shows tells whether more follow.
    page = people.of_customer(uow, service, customer, _sought(service, wanted, after, limit + 1))
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
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    return people.of_customer(uow, service, customer, _sought(service, wanted, after, limit)).users


def show(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID, user_id: UUID) -> PersonOfCustomer:
    """Return a person who has signed in for a customer; raise `CustomerUnknown` and `CustomerPersonUnknown`."""
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_READ).service
    customer = customers.find(uow, service, customer_id)
    person = uow.customer_people.find(service, customer, user_id) if customer.is_accepted else None
    if person is None:
        raise CustomerPersonUnknown
    return PersonOfCustomer(customer=customer, person=person)


def set_roles(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    customer_id: UUID,
    user_id: UUID,
    roles: Sequence[str],
    *,
    seen: Sequence[str],
) -> CustomerPerson:
    """Give a person who has signed in for a customer these roles, as `people.set_roles` says.

    Raise `OwnRolesChanged` when the roles are no longer the ones that the caller has seen.
    """
    vendor = customers.authorize_vendor(uow, slug, service_slug, Operation.CUSTOMER_PEOPLE_CHANGE)
    return people.set_roles(uow, vendor, customer_id, user_id, roles, seen=seen)


def _sought(service: Service, wanted: PeopleFilter, after: Position | None, limit: int) -> PeopleSought:
    return PeopleSought(
        search=wanted.search,
        role=wanted.role if wanted.role in {one.name for one in service.roles} else None,
        after=after.id if after is not None else None,
        limit=limit,
        offset=0,
    )
