"""Storage of the customers of services, as the console finds them for their vendor."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.found_customers import CustomerCounts, CustomerFigures, CustomerFilter, NamedCustomer
from core.positions import Position
from core.services.services import Service


class FoundCustomers(Protocol):
    """The customers of one service and its open offers, or of all services of a vendor.

    With a part, in lower case, those whose slug or external id contains it, and customers whose name does.
    """

    def page(
        self,
        service: Service,
        *,
        part: str,
        at: datetime,
        after: Position | None,
        limit: int,
        state: CustomerFilter | None = None,
        offers: bool = True,
    ) -> Sequence[ServiceCustomer]:
        """Return them from a position on, the newest first; with a state those in it, and None stands for all.

        Without `offers` they are those alone that are customers.
        """
        ...

    def named(
        self, organization_id: UUID, *, part: str, at: datetime, looked_at_max: int, limit: int
    ) -> Sequence[NamedCustomer]:
        """Return those of all services of a vendor with a part in slug or name, among so many of them.

        A customer whose whole slug is the part is always found.
        """
        ...

    def count(
        self, service: Service, *, part: str, at: datetime, counted_max: int, state: CustomerFilter | None = None
    ) -> int:
        """Count them, no more than so many; with a state those in it."""
        ...

    def counts(self, service: Service, *, part: str, at: datetime) -> CustomerCounts:
        """Count those in each state."""
        ...

    def figures(self, service: Service, customer_id: UUID, *, counted_max: int) -> CustomerFigures:
        """Count who uses the service for a customer, no more than so many of each."""
        ...
