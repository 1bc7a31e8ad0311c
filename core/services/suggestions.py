"""The services of an organization by their slugs, to choose from or to complete what is typed; of many, none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.organizations.access import Capability, Operation, authorize

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A longer list is no help to choose from, and makes the page heavy.
SUGGESTED_MAX: Final = 100


def of_organization(uow: UnitOfWork, slug: str, operation: Operation) -> Sequence[str]:
    """Return the slugs to suggest to a caller who does this; none to one who does not see the services."""
    authorized = authorize(uow, slug, operation)
    if Capability.SERVICES_VIEW not in authorized.capabilities:
        return ()
    found = uow.services.slugs(authorized.organization.id, limit=SUGGESTED_MAX + 1)
    return found if len(found) <= SUGGESTED_MAX else ()
