"""How many people use a service for its customers, for its backend."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import usage
from core.customers.usage import ServiceUsage
from core.service_api import customers

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_customer(uow: UnitOfWork, customer_id: UUID, *, month: str) -> int:
    """Return how many people have used the service of the key for a customer in a month; raise `CustomerUnknown`."""
    return usage.of_customer_of(uow, customers.authorize(uow), customer_id, month=month)


def of_service(uow: UnitOfWork, *, month: str) -> ServiceUsage:
    """Return how many people have used the service of the key for its customers in a month."""
    return usage.of_service(uow, customers.authorize(uow), month=month)
