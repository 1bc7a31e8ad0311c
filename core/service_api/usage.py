"""How many people use a service for its customers, for its backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.customers import customers, usage
from core.customers.customers import OF_KEY
from core.customers.usage import CUSTOMERS_MAX, ServiceUsage
from core.organizations.access import Operation

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_service(uow: UnitOfWork, *, month: str) -> ServiceUsage:
    """Return how many people have used the service of the key for its customers in a month."""
    service = customers.authorize_reader(uow, OF_KEY, Operation.CUSTOMERS_READ)
    return uow.customer_usage.of_service(service, usage.checked_month(uow, month), limit=CUSTOMERS_MAX)
