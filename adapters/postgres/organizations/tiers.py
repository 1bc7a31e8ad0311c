"""Tiers in their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.tiers import FREE, CountedTier, Tier

if TYPE_CHECKING:
    from core.deferred import Deferred

_TIER: Final = f"SELECT {columns(Tier)} FROM tiers"

_SMALLEST_FIRST: Final = "default_max_users NULLS LAST, id"


class PostgresTiers(Aggregate):
    """The port `Tiers`."""

    def all(self) -> Sequence[Tier]:
        return self._all(Tier, f"{_TIER} ORDER BY {_SMALLEST_FIRST}")

    def counted(self, counted_max: int, *, tier_id: UUID | None = None) -> Sequence[CountedTier]:
        # The organizations of a tier are in an index; at most `counted_max` of its entries are read.
        return self._all(
            _counted,
            f"""
            SELECT   {columns(Tier)},
                     (SELECT count(*)
                      FROM   (SELECT FROM organizations o
                              WHERE  o.tier_id = tiers.id AND {IS_SHOWN}
                              LIMIT  %(max)s) AS counted)
                     AS organizations
            FROM     tiers
            WHERE    %(tier_id)s::uuid IS NULL OR id = %(tier_id)s
            ORDER BY {_SMALLEST_FIRST}
            """,
            {"max": counted_max, "tier_id": tier_id},
        )

    def defer_by_id(self, tier_id: UUID) -> Deferred[Tier | None]:
        return self._defer_one(Tier, f"{_TIER} WHERE id = %s", (tier_id,))

    def keep(self, tier_id: UUID) -> Tier | None:
        return self._one(Tier, f"{_TIER} WHERE id = %s FOR KEY SHARE", (tier_id,))

    def lock(self, tier_id: UUID) -> Tier | None:
        return self._one(Tier, f"{_TIER} WHERE id = %s FOR UPDATE", (tier_id,))

    def lock_free(self) -> None:
        self._connection.execute("SELECT FROM tiers WHERE name = %s FOR NO KEY UPDATE", (FREE,))

    def count(self) -> int:
        return self._value("SELECT count(*) FROM tiers")

    def add(self, tier: Tier) -> bool:
        return self._finds_any(
            f"INSERT INTO tiers ({columns(Tier)}) VALUES ({placeholders(Tier)}) ON CONFLICT (name) DO NOTHING",
            values(tier),
        )

    def save(self, tier: Tier) -> None:
        self._connection.execute_later(
            f"UPDATE tiers SET {assignments(Tier, without=('id', 'name'))} WHERE id = %(id)s", values(tier)
        )

    def remove(self, tier_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM tiers WHERE id = %s", (tier_id,))

    def free(self) -> Tier:
        tier = self._one(Tier, f"{_TIER} WHERE name = %s", (FREE,))
        assert tier is not None, "the free tier is missing from the table"
        return tier


def _counted(*, organizations: int, **columns: Any) -> CountedTier:
    return CountedTier(tier=Tier(**columns), organizations=organizations)
