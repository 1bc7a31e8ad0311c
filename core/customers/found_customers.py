"""The customers of a service as the console shows them: found by name or id, and one with what ends with it.

Offering the service, pausing a customer and ending it are in `customers.py`, as for the JSON interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import customers
from core.customers.customers import ServiceCustomer
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation, authorize
from core.positions import FoundRows, Position, found_rows
from core.services import access
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# Among so many customers of a vendor a name is looked for while it is typed.
LOOKED_AT_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerFigures:
    """Who uses a service for a customer: each number is exact up to `COUNTED_MAX`, and one more than that beyond.

    `users` are the members who have signed in for it, and `sessions` those that are live.
    """

    users: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerInNumbers:
    """A customer or offer, and who uses the service for it."""

    customer: ServiceCustomer
    figures: CustomerFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCustomer:
    """A customer or open offer, as what names it among those of all services; `name` is None for an offer."""

    id: UUID
    slug: str
    name: str | None
    service_slug: str
    service_name: str


def search(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, after: Position | None, limit: int
) -> FoundRows[ServiceCustomer]:
    """Find customers and open offers by a part of the slug, the name or the external id, the newest first."""
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    part = search.strip().lower()
    found = uow.elsewhere.found_customers.page(service, part=part, at=uow.now, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.found_customers.count, service, part=part, at=uow.now)
    return found_rows(found, after=after, limit=limit, count=count)


def listed(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, after: Position | None, limit: int
) -> Sequence[ServiceCustomer]:
    """Return a part of what `search` finds, without counting; for files."""
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    return uow.elsewhere.found_customers.page(
        service, part=search.strip().lower(), at=uow.now, after=after, limit=limit
    )


def named(uow: UnitOfWork, slug: str, part: str, *, limit: int) -> Sequence[NamedCustomer]:
    """Return the first customers and open offers of all services that have a part in the slug or the name.

    It is looked for among `LOOKED_AT_MAX` of them, and a customer also by its whole slug.
    """
    organization = authorize(uow, slug, Operation.CUSTOMERS_READ).organization
    return uow.elsewhere.found_customers.named(
        organization.id, part=part.strip().lower(), at=uow.now, looked_at_max=LOOKED_AT_MAX, limit=limit
    )


def show(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> CustomerInNumbers:
    """Return a customer or open offer with its numbers; raise `CustomerUnknown`."""
    service = access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    return in_numbers(uow, service, customers.find(uow, service, customer_id))


def in_numbers(uow: UnitOfWork, service: Service, customer: ServiceCustomer) -> CustomerInNumbers:
    """Return a customer of a service, or an open offer, with its numbers."""
    return CustomerInNumbers(
        customer=customer,
        figures=uow.elsewhere.found_customers.figures(service, customer.id, counted_max=COUNTED_MAX + 1),
    )
