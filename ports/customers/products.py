"""The products that an organization's people use, and their sign-ins there."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.found_products import ProductFigures
from core.customers.my_applications import Tile, TilePosition
from core.customers.product_sign_ins import ProductSignIn
from core.customers.products import Product, ProductsPage
from core.customers.refused_sign_ins import RefusedSignIn
from core.customers.relation_log import CustomerState
from core.deferred import Deferred
from core.positions import Position
from core.services.services import Service, ServiceRole
from core.sessions.caller_limits import Confinement
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import Scope


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


class MyApplications(Protocol):
    """Reads the services that a person may open."""

    def page(
        self,
        user_id: UUID,
        *,
        has_address: bool,
        limits: Confinement | None,
        after: TilePosition | None,
        limit: int,
    ) -> Sequence[Tile]:
        """List the services that are open to a user, by name, or from a position on, in one statement.

        With `has_address`, what the organization of the mail domain gave counts before the user has confirmed it.
        With limits, services that do not concern their organization are left out; `Tile.is_open_within` decides the
        rest.
        """
        ...


class ProductSignIns(Protocol):
    """The login events of a customer's record, in the descending order of their ids."""

    def newest(
        self, organization_id: UUID, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return the newest sign-ins at a product of an organization, or those before the one with an id.

        With `succeeded`, only those that succeeded, or only those that did not. They name a person from when that
        person was a confirmed member or end user of the organization, and no connection but its own.
        """
        ...

    def of_person(
        self, user_id: UUID, scope: Scope, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return the sign-ins of one person in the scope of the organization, as `newest` does."""
        ...


class RefusedSignIns(Protocol):
    """Refused sign-ins for customers of services, by people that their vendors see."""

    def newest(
        self,
        service: Service,
        customer: ServiceCustomer,
        *,
        without: Set[SignInReason],
        looked_at_max: int,
        limit: int,
    ) -> Sequence[RefusedSignIn]:
        """Return the newest ones for a customer, with their reasons, except for the reasons in `without`.

        They are of confirmed members who had signed in for the customer before and, where it shares its directory, of
        those who may use the service now. No more than `looked_at_max` are read.
        """
        ...
