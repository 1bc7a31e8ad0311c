"""How many people have used a service for its customers in a month: they have signed in, or refreshed a session.

Each person counts once for a customer, and once for the service. The use for a customer is forgotten when it ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import customers
from core.customers.customers import VendorPath
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.sessions.customer_contexts import month_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# One answer has so many customers.
CUSTOMERS_MAX: Final = 10_000
_MONTH: Final = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerUsage:
    """How many people have used a service for a customer."""

    customer_id: UUID
    external_id: str | None
    active_people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUsage:
    """How many people have used a service for each of its customers, the most first, and for all of them together."""

    customers: Sequence[CustomerUsage]
    active_people: int


def of_customer(uow: UnitOfWork, of: VendorPath, customer_id: UUID, *, month: str) -> int:
    """Return how many people have used a service for a customer in a month; raise `CustomerUnknown`."""
    service = customers.authorize_reader(uow, of, Operation.CUSTOMERS_READ)
    begin = checked_month(uow, month)
    customer = customers.find(uow, service, customer_id)
    return uow.customer_usage.of_customer(service, customer.id, begin)


def checked_month(uow: UnitOfWork, text: str) -> date:
    """Return the first day of a month that is written as `2026-11`, and that has begun; raise `BadRequest`."""
    found = _MONTH.fullmatch(text)
    if found is None:
        raise BadRequest.of_field("month", "Write a month as 2026-11.")
    month = date(int(found[1]), int(found[2]), 1)
    if month > month_of(uow.now):
        raise BadRequest.of_field("month", "This month has not begun.")
    return month
