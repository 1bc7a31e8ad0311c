"""Tiers in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.organizations.tiers import FREE, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class PostgresTiers(Aggregate):
    """The port `Tiers`."""

    def all(self) -> Sequence[Tier]:
        return (
            self._connection.cursor(row_factory=kwargs_row(Tier))
            .execute(
                """
                SELECT   id, name, display_name, default_max_services, default_max_users, price_cents
                FROM     tiers
                ORDER BY default_max_users NULLS LAST, id
                """
            )
            .fetchall()
        )

    def by_id(self, tier_id: UUID) -> Tier | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Tier))
            .execute(
                """
                SELECT id, name, display_name, default_max_services, default_max_users, price_cents
                FROM   tiers
                WHERE  id = %s
                """,
                (tier_id,),
            )
            .fetchone()
        )

    def free(self) -> Tier:
        tier = (
            self._connection.cursor(row_factory=kwargs_row(Tier))
            .execute(
                """
                SELECT id, name, display_name, default_max_services, default_max_users, price_cents
                FROM   tiers
                WHERE  name = %s
                """,
                (FREE,),
            )
            .fetchone()
        )
        assert tier is not None, "the free tier is missing from the table"
        return tier
