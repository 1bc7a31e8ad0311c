"""The services of an organization to choose from, by their slugs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.organizations.access import Capability, Operation, authorize
from core.organizations.choices import Choice, Choices, choices

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_organization(uow: UnitOfWork, slug: str, operation: Operation, search: str = "") -> Choices | None:
    """Return the services to a caller who may do the operation; None for one who does not see the services.

    A search takes a part of the name or the slug.
    """
    authorized = authorize(uow, slug, operation)
    if Capability.SERVICES_VIEW not in authorized.capabilities:
        return None
    return of_services(uow, authorized.organization.id, search)


def of_services(uow: UnitOfWork, organization_id: UUID, search: str) -> Choices:
    """Return the services of an organization to an authorized caller."""

    def read(part: str, limit: int) -> Sequence[Choice]:
        if not part:
            every = uow.services.names(organization_id, limit=limit)
            return [Choice(value=one, name=name, about=one) for one, name in every.items()]
        found = uow.elsewhere.found_services.page(
            organization_id, part=part.lower(), after=None, limit=limit, users_max=1
        )
        return [Choice(value=one.slug, name=one.name, about=one.slug) for one in found]

    return choices(read, search)
