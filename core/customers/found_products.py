"""The products of an organization as the console shows them: a search, one with names in place of ids, and what ends.

Accepting, changing and ending them are in `products.py`, as for the JSON interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import products
from core.customers.products import Product
from core.customers.relation_log import CustomerState
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.choices import Choices
from core.positions import FoundRows, Position, found_rows
from core.services import assignments
from core.services.assignments import Assignable, NamedAssignment
from core.services.services import ServiceRole

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProducts:
    """The products that were found, and how many offers wait for an answer, counted up to `COUNTED_MAX`."""

    rows: FoundRows[Product]
    offers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductFigures:
    """Who of the organization uses a product: each number is exact up to `COUNTED_MAX`, and one more than that beyond.

    `users` are the members who have signed in for the organization, and `sessions` the live ones.
    """

    users: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductInNumbers:
    """A product or offer, and who of the organization uses it."""

    product: Product
    figures: ProductFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGroup:
    """A group that the product sees; its name is None where the reader may not see the members."""

    id: UUID
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductDetail:
    """A product with names in place of ids, and the roles of its service.

    A caller who may change the product can assign it to the subjects `assignable`, and show its vendor the groups
    `groups_to_show`. Both are None for other callers; `groups_to_show` also for one who sees no members.
    """

    product: Product
    figures: ProductFigures
    assignments: Sequence[NamedAssignment]
    groups: Sequence[NamedGroup]
    service_roles: Sequence[ServiceRole]
    assignable: Assignable | None = None
    groups_to_show: Choices | None = None


def search(
    uow: UnitOfWork, slug: str, *, search: str, state: CustomerState | None, after: Position | None, limit: int
) -> FoundProducts:
    """Find products and open offers by a part of the names or slugs of service and vendor, the newest first."""
    organization_id = authorize(uow, slug, Operation.PRODUCTS_READ).organization.id
    part = search.strip().lower()
    offers = uow.elsewhere.found_products.defer_count(
        organization_id, part="", state=CustomerState.OFFERED, at=uow.now, counted_max=COUNTED_MAX + 1
    )
    found = uow.elsewhere.found_products.page(
        organization_id, part=part, state=state, at=uow.now, after=after, limit=limit + 1
    )

    def count(counted_max: int) -> int:
        return uow.elsewhere.found_products.defer_count(
            organization_id, part=part, state=state, at=uow.now, counted_max=counted_max
        )()

    return FoundProducts(rows=found_rows(found, after=after, limit=limit, count=count), offers=offers())


def listed(
    uow: UnitOfWork, slug: str, *, search: str, state: CustomerState | None, after: Position | None, limit: int
) -> Sequence[Product]:
    """Return a part of what `search` finds, without a count; for files."""
    organization_id = authorize(uow, slug, Operation.PRODUCTS_READ).organization.id
    return uow.elsewhere.found_products.page(
        organization_id, part=search.strip().lower(), state=state, at=uow.now, after=after, limit=limit
    )


def show(uow: UnitOfWork, slug: str, client_id: UUID, *, find: str = "", find_group: str = "") -> ProductDetail:
    """Return a product or offer in detail; raise `ProductUnknown`.

    `find` searches the subjects to assign it to, and `find_group` the names of groups to show to its vendor. A caller
    who sees no members sees neither the addresses nor the groups to which it is assigned.
    """
    authorized = authorize(uow, slug, Operation.PRODUCTS_READ)
    product = products.show(uow, slug, client_id)
    name_of = assignments.names(uow, authorized, product.assignments, group_ids=product.groups)
    is_changed = product.is_accepted and Capability.PRODUCTS_MANAGE in authorized.capabilities
    return ProductDetail(
        product=product,
        figures=_figures(uow, authorized, product),
        assignments=assignments.named(product.assignments, name_of),
        groups=[NamedGroup(id=one, name=name_of.get(str(one))) for one in product.groups],
        service_roles=uow.found_products.service_roles(authorized.organization.id, product),
        assignable=assignments.assignable(uow, authorized, find) if is_changed else None,
        groups_to_show=assignments.of_groups(uow, authorized, find_group) if is_changed else None,
    )


def show_in_numbers(uow: UnitOfWork, slug: str, client_id: UUID, operation: Operation) -> ProductInNumbers:
    """Return a product or offer and who uses it, for the page that pauses or ends it; raise `ProductUnknown`."""
    authorized = authorize(uow, slug, operation)
    product = products.show(uow, slug, client_id)
    return ProductInNumbers(product=product, figures=_figures(uow, authorized, product))


def _figures(uow: UnitOfWork, authorized: OrganizationAccess, product: Product) -> ProductFigures:
    return uow.elsewhere.found_products.figures(
        authorized.organization.id, product.customer_id, counted_max=COUNTED_MAX + 1
    )
