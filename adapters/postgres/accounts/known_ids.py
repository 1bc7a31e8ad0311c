"""The ids by which organizations know accounts, in the table `known_account_ids`.

Triggers on memberships and links end them, and give one to an account whose own id means another user there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.parts import in_parts

if TYPE_CHECKING:
    from core.deferred import Deferred

OTHERS: Final = """
    SELECT known_id, user_id
    FROM   known_account_ids
    WHERE  organization_id = %s AND known_id = ANY (%s) AND user_id IS NOT NULL
"""


class PostgresKnownIds(Aggregate):
    """The port `KnownIds`."""

    def defer_accounts(self, organization_id: UUID, ids: Collection[UUID]) -> Deferred[Mapping[UUID, UUID]]:
        rows = self._connection.cursor(binary=True).defer(OTHERS, (organization_id, list(ids)))
        return lambda: {one: one for one in ids} | dict(rows.fetchall())

    def accounts(self, organization_id: UUID, ids: Collection[UUID]) -> frozenset[UUID]:
        others: dict[UUID, UUID] = {}
        for part in in_parts(ids):
            others.update(self._connection.cursor(binary=True).execute(OTHERS, (organization_id, part)).fetchall())
        # Organizations hardly ever know an account by another id than its own.
        return frozenset(others.get(one, one) for one in ids) if others else frozenset(ids)

    def defer_shown(self, organization_id: UUID, user_id: UUID) -> Deferred[UUID]:
        return self._defer_value_or_none(
            """
            SELECT coalesce((SELECT known_id FROM known_account_ids WHERE organization_id = %s AND user_id = %s), %s)
            """,
            (organization_id, user_id, user_id),
        )
