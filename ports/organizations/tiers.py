"""Tiers, read and changed."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.tiers import CountedTier, Tier


class Tiers(Protocol):
    """Tiers, the limits of organizations."""

    def all(self) -> Sequence[Tier]:
        """List the tiers, the smallest first."""
        ...

    def counted(self, counted_max: int, *, tier_id: UUID | None = None) -> Sequence[CountedTier]:
        """List the tiers, or one of them, with the number of organizations of each, counted up to `counted_max`."""
        ...

    def defer_by_id(self, tier_id: UUID) -> Deferred[Tier | None]:
        """Defer reading a tier; None when it does not exist."""
        ...

    def keep(self, tier_id: UUID) -> Tier | None:
        """Return a tier that no other transaction deletes before this one ends; None when it does not exist."""
        ...

    def lock(self, tier_id: UUID) -> Tier | None:
        """Lock a tier and return it; None when it does not exist. No organization gets it meanwhile."""
        ...

    def lock_free(self) -> None:
        """Lock the tier of new organizations against others who call this; organizations can still get it."""
        ...

    def count(self) -> int:
        """Return how many tiers there are."""
        ...

    def add(self, tier: Tier) -> bool:
        """Add a tier; return False, and add none, when another one has its name."""
        ...

    def save(self, tier: Tier) -> None:
        """Store the changed fields of a tier."""
        ...

    def remove(self, tier_id: UUID) -> None:
        """Delete a tier that no organization has."""
        ...

    def free(self) -> Tier:
        """Return the tier of new organizations."""
        ...
