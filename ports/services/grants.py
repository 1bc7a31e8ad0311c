"""What the core asks of the stored service grants."""

from typing import Protocol
from uuid import UUID

from core.organizations.relations import ServiceRelation
from core.services.grants import GrantsPage, ServiceGrant
from core.services.services import Service


class ServiceGrants(Protocol):
    """What members may do with single services."""

    def page(self, organization_id: UUID, service_slug: str, *, limit: int, offset: int) -> GrantsPage | None:
        """List the grants on a service of an organization, the first first, in one statement; None without it."""
        ...

    def find(self, service: Service, user_id: UUID) -> ServiceGrant | None:
        """Find what a person was granted on a service."""
        ...

    def put(self, service: Service, granted: ServiceGrant) -> bool:
        """Store what a member is granted, in place of what they had; False when the service is gone."""
        ...

    def remove(self, service: Service, user_id: UUID) -> ServiceRelation | None:
        """Take a grant away and say which it was; of two racers one gets it."""
        ...
