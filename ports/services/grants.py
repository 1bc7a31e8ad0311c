"""Storage of service grants."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.relations import ServiceRelation
from core.positions import Position
from core.services.grants import GrantsPage, ServiceGrant
from core.services.services import Service


class ServiceGrants(Protocol):
    """Grants of members on services."""

    def page(self, organization_id: UUID, service_slug: str, *, limit: int, offset: int) -> GrantsPage | None:
        """Return the grants on a service, the oldest first, in one statement; None when the service does not exist."""
        ...

    def found(self, service: Service, *, part: str, after: Position | None, limit: int) -> Sequence[ServiceGrant]:
        """Return the grants of members with a part in their address, after a position, the oldest first."""
        ...

    def count_found(self, service: Service, *, part: str, counted_max: int) -> int:
        """Count the same grants, up to a maximum."""
        ...

    def find(self, service: Service, user_id: UUID) -> ServiceGrant | None:
        """Return a member's grant on a service; None when they have none."""
        ...

    def put(self, service: Service, granted: ServiceGrant) -> bool:
        """Store a member's grant, replacing a previous one; False when the service no longer exists."""
        ...

    def remove(self, service: Service, user_id: UUID) -> ServiceRelation | None:
        """Delete a grant and return its relation; None when there is none. Of concurrent calls one gets it."""
        ...
