"""Reading how many people have used services for customers."""

from datetime import date
from typing import Protocol
from uuid import UUID

from core.customers.usage import ServiceUsage
from core.services.services import Service


class CustomerUsages(Protocol):
    """People who were active in months, each counted once."""

    def of_customer(self, service: Service, customer_id: UUID, month: date) -> int:
        """Count the people who have used a service for a customer in a month."""
        ...

    def of_service(self, service: Service, month: date, *, limit: int) -> ServiceUsage:
        """Count the people who have used a service in a month, for each of at most `limit` customers and in all."""
        ...
