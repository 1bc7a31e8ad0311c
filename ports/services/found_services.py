"""Searching services for the console."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.found_services import ListedService, ServiceEnding


class FoundServicesOfOrganization(Protocol):
    """Searches the services of organizations, and counts what belongs to one."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int, users_max: int
    ) -> Sequence[ListedService]:
        """Return services whose name or slug has a part, in lower case, the oldest first.

        At most `users_max` users of each are counted.
        """
        ...

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        """Return how many services are found, at most `counted_max`."""
        ...

    def figures(self, organization_id: UUID, service_id: UUID) -> ServiceEnding:
        """Count what belongs to a service, where there may be much of it up to one more than `COUNTED_MAX`."""
        ...
