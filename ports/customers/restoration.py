"""Storage of the customers that have ended and can be restored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.restoration import EndedCustomer
from core.services.services import Service


class EndedCustomers(Protocol):
    """Customers that no person owned when they ended, until they are restored or deleted for good."""

    def of_service(self, service: Service, *, at: datetime, limit: int) -> Sequence[EndedCustomer]:
        """List the customers of a service that can be restored at that time, the last to end first."""
        ...

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        """Return a customer that can be restored at that time; None for any other."""
        ...

    def lock(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        """Lock and return a customer that can be restored at that time, with its organization; None for any other."""
        ...

    def restore(self, service: Service, customer_id: UUID) -> None:
        """Make a locked customer active again, with the organization and the external id that it had."""
        ...
