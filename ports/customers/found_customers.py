"""Searching the customers of services, for the pages of their vendor."""

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

    With a part, in lower case, only those with it in the slug, the external id or, for a customer, the name.
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
        """Return them from a position on, newest first, all or those in a state; without `offers` only customers."""
        ...

    def named(
        self, organization_id: UUID, *, part: str, at: datetime, looked_at_max: int, limit: int
    ) -> Sequence[NamedCustomer]:
        """Return the customers of all services of a vendor with a part in slug or name, of the first `looked_at_max`.

        A customer whose whole slug is the part is always found.
        """
        ...

    def count(
        self, service: Service, *, part: str, at: datetime, counted_max: int, state: CustomerFilter | None = None
    ) -> int:
        """Count them, all or those in a state, up to `counted_max`."""
        ...

    def counts(self, service: Service, *, part: str, at: datetime) -> CustomerCounts:
        """Count them by state."""
        ...

    def figures(self, service: Service, customer_id: UUID, *, counted_max: int) -> CustomerFigures:
        """Count who uses the service for a customer, each kind up to `counted_max`."""
        ...
