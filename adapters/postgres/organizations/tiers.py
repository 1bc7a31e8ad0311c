"""Tiers in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.driver.columns import columns
from adapters.postgres.transaction import Aggregate
from core.organizations.tiers import FREE, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

_TIER: Final = f"SELECT {columns(Tier)} FROM tiers"  # noqa: S608 - made of the names of fields


class PostgresTiers(Aggregate):
    """The port `Tiers`."""

    def all(self) -> Sequence[Tier]:
        return self._all(Tier, f"{_TIER} ORDER BY default_max_users NULLS LAST, id")

    def by_id(self, tier_id: UUID) -> Tier | None:
        return self._one(Tier, f"{_TIER} WHERE id = %s", (tier_id,))

    def free(self) -> Tier:
        tier = self._one(Tier, f"{_TIER} WHERE name = %s", (FREE,))
        assert tier is not None, "the free tier is missing from the table"
        return tier
