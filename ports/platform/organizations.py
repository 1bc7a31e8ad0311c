"""What the core asks of the stored organizations for those who govern the platform."""

from typing import Protocol
from uuid import UUID

from core.organizations.organizations import OrganizationStatus
from core.platform.organizations import OrganizationPage


class PlatformOrganizations(Protocol):
    """The organizations of the platform, seen from outside."""

    def page(
        self, *, status: OrganizationStatus | None, tier_id: UUID | None, limit: int, offset: int
    ) -> OrganizationPage:
        """List organizations with their owners and tiers, the newest first, and count all that were asked for."""
        ...
