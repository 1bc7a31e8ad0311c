"""Reading tiers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.tiers import CountedTier, Tier


class Tiers(Protocol):
    """Tiers, the limits of organizations."""

    def all(self) -> Sequence[Tier]:
        """List the tiers, the smallest first."""
        ...

    def counted(self, counted_max: int) -> Sequence[CountedTier]:
        """List the tiers likewise, with how many organizations have each, counted no further than that."""
        ...

    def by_id(self, tier_id: UUID) -> Tier | None:
        """Return a tier; None when it does not exist."""
        ...

    def free(self) -> Tier:
        """Return the tier of new organizations."""
        ...
