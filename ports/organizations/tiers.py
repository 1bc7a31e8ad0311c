"""What the core asks of the stored tiers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.tiers import Tier


class Tiers(Protocol):
    """What organizations may use."""

    def all(self) -> Sequence[Tier]:
        """List the tiers, the smallest first."""
        ...

    def by_id(self, tier_id: UUID) -> Tier | None:
        """Find a tier."""
        ...

    def free(self) -> Tier:
        """Give the tier that organizations begin with."""
        ...
