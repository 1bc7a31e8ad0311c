"""The customers of a service as the console shows them: a search by name or id, and one customer with its numbers.

Offering the service, pausing a customer and ending it are in `customers.py`, as for the JSON interface. What the vendor
has made for a customer, thing by thing, is in `connections.py`, `mail_domains.py`, `scim_tokens.py`, `group_rules.py`
and `setup_links.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import customers, made_customers, refused_sign_ins, setup_callers, setup_progress
from core.customers.claiming import NamedOwner
from core.customers.customers import ServiceCustomer
from core.customers.made_customers import EndedCustomer
from core.customers.refused_sign_ins import RefusedSignIn
from core.customers.setup_progress import SetupProgress
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize
from core.organizations.link_callers import Part
from core.positions import FoundRows, Position, found_rows
from core.services import service_access
from core.services.services import Service
from core.sessions.customer_contexts import month_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A search while the name is typed looks at so many customers of a vendor.
LOOKED_AT_MAX: Final = 1_000


class CustomerFilter(StrEnum):
    """A filter of the list of customers; several may find the same customer."""

    OFFERED = "offered"
    UNCLAIMED = "unclaimed"
    # Something is made for it, and no person has signed in for it yet.
    SETTING_UP = "setting_up"
    ACTIVE = "active"
    PAUSED = "paused"
    FAILING = "failing"
    # It can be restored.
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerCounts:
    """How many customers and open offers of a service each filter finds, without the ended ones."""

    offered: int
    unclaimed: int
    setting_up: int
    active: int
    paused: int
    failing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCustomer:
    """A customer or an open offer in the list, the progress of its setup, and what fails."""

    customer: ServiceCustomer
    progress: SetupProgress

    @property
    def position(self) -> Position:
        """The place of the customer in the list."""
        return self.customer.position


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomersOverview:
    """A part of the customers of a service, how many each filter finds, and those that have ended."""

    found: FoundRows[ListedCustomer]
    counts: CustomerCounts
    ended: Sequence[EndedCustomer]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerFigures:
    """Who uses a service for a customer: each number is exact up to `COUNTED_MAX`, and one more than that beyond.

    `users` are the members who have signed in for it, and `sessions` the live ones.
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
    """What names a customer or open offer among those of all services; `name` is None for an offer."""

    id: UUID
    slug: str
    name: str | None
    service_slug: str
    service_name: str


def overview(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, state: str, after: Position | None, limit: int
) -> CustomersOverview:
    """Find customers and open offers by a part of the slug, the name or the external id, the newest first.

    `state` is a word of `CustomerFilter`; any other finds all that have not ended.
    """
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    part, wanted = search.strip().lower(), filter_of(state)
    if wanted is CustomerFilter.ENDED:
        found = FoundRows[ListedCustomer](found=(), total=0, next=None)
    else:
        rows = _page(uow, service, part, wanted, after, limit + 1)
        count = partial(uow.elsewhere.found_customers.count, service, part=part, at=uow.now, state=wanted)
        found = found_rows(rows, after=after, limit=limit, count=count)
    return CustomersOverview(
        found=found,
        counts=uow.elsewhere.found_customers.counts(service, part=part, at=uow.now),
        ended=[one for one in made_customers.list_ended_of(uow, service) if _has(one, part)],
    )


def listed(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, state: str, after: Position | None, limit: int
) -> Sequence[ListedCustomer]:
    """Return a part of what `overview` finds, without a count; for files."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    wanted = filter_of(state)
    if wanted is CustomerFilter.ENDED:
        return ()
    return _page(uow, service, search.strip().lower(), wanted, after, limit)


def filter_of(word: str) -> CustomerFilter | None:
    """Return the filter that a word of an address names; None for any other word."""
    return CustomerFilter(word) if word in set(CustomerFilter) else None


def _page(
    uow: UnitOfWork, service: Service, part: str, state: CustomerFilter | None, after: Position | None, limit: int
) -> Sequence[ListedCustomer]:
    rows = uow.elsewhere.found_customers.page(service, part=part, state=state, at=uow.now, after=after, limit=limit)
    progress = setup_progress.of_customers(uow, service, rows)
    return [ListedCustomer(customer=one, progress=progress[one.id]) for one in rows]


def _has(ended: EndedCustomer, part: str) -> bool:
    return part in ended.name.lower() or part in (ended.external_id or "").lower()


def named(uow: UnitOfWork, slug: str, part: str, *, limit: int) -> Sequence[NamedCustomer]:
    """Return the first customers and open offers of all services whose slug or name contains `part`.

    The search looks at `LOOKED_AT_MAX` of them, and also finds a customer by its whole slug.
    """
    organization = authorize(uow, slug, Operation.CUSTOMERS_READ).organization
    return uow.elsewhere.found_customers.named(
        organization.id, part=part.strip().lower(), at=uow.now, looked_at_max=LOOKED_AT_MAX, limit=limit
    )


def show(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> CustomerInNumbers:
    """Return a customer or open offer with its numbers; raise `CustomerUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service
    return in_numbers(uow, service, customers.find(uow, service, customer_id))


def in_numbers(uow: UnitOfWork, service: Service, customer: ServiceCustomer) -> CustomerInNumbers:
    """Return a customer of a service, or an open offer, with its numbers."""
    return CustomerInNumbers(
        customer=customer,
        figures=uow.elsewhere.found_customers.figures(service, customer.id, counted_max=COUNTED_MAX + 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerInDetail:
    """A customer or an open offer in numbers, with what the vendor has made and what fails.

    `refused` are the latest refused sign-ins; None where the reader may not see the people of customers. `owner` is
    the person that the vendor last asked to own it, None for an offer or if it asked no person. `parts` are the parts
    that the vendor may set up, and `active_people` is how many have used the service for it in this month.
    """

    numbers: CustomerInNumbers
    refused: Sequence[RefusedSignIn] | None
    progress: SetupProgress
    owner: NamedOwner | None
    parts: Sequence[Part]
    active_people: int
    month: date


def show_in_detail(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> CustomerInDetail:
    """Return a customer or open offer in detail; raise `CustomerUnknown`."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ)
    service = authorized.service
    customer = customers.find(uow, service, customer_id)
    month = month_of(uow.now)
    progress = setup_progress.of_customers(uow, service, [customer])[customer.id]
    refused = setup_progress.refused_call(uow, customer)
    sees_people = Capability.END_USERS_VIEW in authorized.capabilities
    return CustomerInDetail(
        numbers=in_numbers(uow, service, customer),
        refused=refused_sign_ins.told(uow, service, customer) if sees_people else None,
        progress=replace(progress, troubles=[refused, *progress.troubles]) if refused is not None else progress,
        owner=uow.customer_claims.named(service, customer.id) if customer.is_accepted else None,
        parts=setup_callers.open_parts(customer),
        active_people=uow.customer_usage.of_customer(service, customer.id, month),
        month=month,
    )
