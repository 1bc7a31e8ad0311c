"""Searching the products of organizations, for the pages of the organization that uses them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.found_products import ProductFigures
from core.customers.products import Product
from core.customers.relations import CustomerState
from core.deferred import Deferred
from core.positions import Position
from core.services.customer_rules import ServiceRole


class FoundProducts(Protocol):
    """The products of one organization and the offers that it may accept.

    With a part, in lower case, only those whose service or vendor has it in the name or slug.
    """

    def page(
        self,
        organization_id: UUID,
        *,
        part: str,
        state: CustomerState | None,
        at: datetime,
        after: Position | None,
        limit: int,
    ) -> Sequence[Product]:
        """Return them from a position on, the newest first."""
        ...

    def defer_count(
        self, organization_id: UUID, *, part: str, state: CustomerState | None, at: datetime, counted_max: int
    ) -> Deferred[int]:
        """Defer counting them, up to `counted_max`."""
        ...

    def figures(self, organization_id: UUID, customer_id: UUID, *, counted_max: int) -> ProductFigures:
        """Count who of an organization uses a product, each kind up to `counted_max`."""
        ...

    def service_roles(self, organization_id: UUID, product: Product) -> Sequence[ServiceRole]:
        """Return the roles of the service of a product that an organization uses or is offered."""
        ...
