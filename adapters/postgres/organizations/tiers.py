"""Tiers in their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns
from adapters.postgres.transaction import Aggregate
from core.organizations.tiers import FREE, CountedTier, Tier

_TIER: Final = f"SELECT {columns(Tier)} FROM tiers"

_SMALLEST_FIRST: Final = "default_max_users NULLS LAST, id"


class PostgresTiers(Aggregate):
    """The port `Tiers`."""

    def all(self) -> Sequence[Tier]:
        return self._all(Tier, f"{_TIER} ORDER BY {_SMALLEST_FIRST}")

    def counted(self, counted_max: int) -> Sequence[CountedTier]:
        # The organizations of a tier are in an index, of which no more than so many entries are read.
        return self._all(
            _counted,
            f"""
            SELECT   {columns(Tier)},
                     (SELECT count(*)
                      FROM   (SELECT FROM organizations o WHERE o.tier_id = tiers.id LIMIT %s) AS counted)
                     AS organizations
            FROM     tiers
            ORDER BY {_SMALLEST_FIRST}
            """,
            (counted_max,),
        )

    def by_id(self, tier_id: UUID) -> Tier | None:
        return self._one(Tier, f"{_TIER} WHERE id = %s", (tier_id,))

    def free(self) -> Tier:
        tier = self._one(Tier, f"{_TIER} WHERE name = %s", (FREE,))
        assert tier is not None, "the free tier is missing from the table"
        return tier


def _counted(*, organizations: int, **columns: Any) -> CountedTier:
    return CountedTier(tier=Tier(**columns), organizations=organizations)
