"""Tiers in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import kwargs_row
from core.organizations.tiers import FREE, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection


class PostgresTiers:
    """The port `Tiers`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> Sequence[Tier]:
        """List the tiers, the smallest first."""
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
        """Find a tier."""
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
        """Give the tier that organizations begin with."""
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
        assert tier is not None, "the schema comes with the free tier"
        return tier
