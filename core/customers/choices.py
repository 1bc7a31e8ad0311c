"""Groups of a directory, customers of a service and products to choose from; callers of `of_…` authorize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess
from core.organizations.choices import Choice, Choices, choices
from core.services import service_access
from core.services.assignments import of_groups
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def groups_for_service(uow: UnitOfWork, slug: str, service_slug: str) -> Choices | None:
    """Return the groups that the tokens of a service can name, to a caller who may read the service."""
    return of_groups(uow, service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ), "")


def of_customers(uow: UnitOfWork, service: Service, search: str) -> Choices:
    """Return the customers of a service by their ids, without open offers."""

    def read(part: str, limit: int) -> Sequence[Choice | None]:
        found = uow.elsewhere.found_customers.page(
            service, part=part.lower(), at=uow.now, after=None, limit=limit, offers=False
        )
        return [Choice(value=str(one.id), name=one.name or one.slug, about=one.slug) for one in found]

    return choices(read, search)


def of_products(uow: UnitOfWork, authorized: OrganizationAccess, search: str) -> Choices:
    """Return the products that the organization uses by their client ids, without open offers."""

    def read(part: str, limit: int) -> Sequence[Choice | None]:
        found = uow.elsewhere.found_products.page(
            authorized.organization.id, part=part.lower(), state=None, at=uow.now, after=None, limit=limit
        )
        return [
            Choice(value=str(one.client_id), name=one.service_name, about=one.vendor_name) if one.is_accepted else None
            for one in found
        ]

    return choices(read, search)
