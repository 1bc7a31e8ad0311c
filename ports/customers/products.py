"""Storage of products: services of other organizations that an organization uses, or that are offered to it."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.products import Product, ProductsPage
from core.services.services import Service


class Products(Protocol):
    """The records of customers and offers, as the customer sees them.

    An offer that has expired, or whose vendor is not active, counts as none. A transaction that changes a product has
    locked the organization and the service.
    """

    def page(self, organization_id: UUID, *, at: datetime, limit: int, offset: int) -> ProductsPage:
        """Return the products that an organization uses, then those that are offered to it, each by name."""
        ...

    def find(self, organization_id: UUID, client_id: UUID, *, at: datetime) -> Product | None:
        """Return a product that an organization uses or is offered; None when it is neither."""
        ...

    def lock_service(self, organization_id: UUID, vendor_id: UUID, client_id: UUID, *, at: datetime) -> Service | None:
        """Lock the service of a product, or a service that is open to any organization; None for every other one."""
        ...

    def accept(self, organization_id: UUID, product: Product, *, at: datetime) -> None:
        """Make the organization a customer by the offer that it has."""
        ...

    def begin(self, organization_id: UUID, service: Service, customer_id: UUID, *, at: datetime) -> None:
        """Make the organization a customer without an offer."""
        ...

    def keep_slug(self, slug: str) -> None:
        """Keep the slug of a customer, so that no other organization ever gets it."""
        ...

    def save(self, organization_id: UUID, product: Product) -> None:
        """Store the customer's settings, except its assignments and its pause."""
        ...

    def assign(self, organization_id: UUID, product: Product) -> None:
        """Store the assignments, in this order, with the ids of the roles that they name."""
        ...

    def set_pause(self, organization_id: UUID, product: Product, paused_at: datetime | None) -> None:
        """Store since when the customer has paused a product, or end the pause with None."""
        ...

    def remove(self, organization_id: UUID, product: Product) -> None:
        """Delete the record of a product or offer with all that belongs to it."""
        ...
