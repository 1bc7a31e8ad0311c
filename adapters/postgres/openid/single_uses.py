"""Ids that were used up, in the table `single_uses`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from adapters.postgres.transaction import Aggregate

if TYPE_CHECKING:
    from core.deferred import Deferred


class PostgresSingleUses(Aggregate):
    """The port `SingleUses`."""

    def claim(self, id_hash: bytes, *, until: datetime) -> bool:
        return self._changes_one(
            "INSERT INTO single_uses (id_hash, expires_at) VALUES (%s, %s) ON CONFLICT (id_hash) DO NOTHING",
            (id_hash, until),
        )

    def defer_has(self, id_hash: bytes) -> Deferred[bool]:
        found = self._defer_value_or_none("SELECT true FROM single_uses WHERE id_hash = %s", (id_hash,))
        return lambda: found() is not None
