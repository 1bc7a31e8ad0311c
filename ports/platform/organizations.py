"""The organizations of the platform, for platform owners."""

from typing import Protocol
from uuid import UUID

from core.organizations.organizations import OrganizationStatus
from core.platform.organizations import OrganizationPage


class PlatformOrganizations(Protocol):
    """All organizations of the platform."""

    def page(
        self, *, status: OrganizationStatus | None, tier_id: UUID | None, limit: int, offset: int
    ) -> OrganizationPage:
        """List organizations with their owners and tiers, the newest first, and count all that match."""
        ...
