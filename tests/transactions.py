"""A transaction for tests of single aggregates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.transaction import Transaction
from core.sessions.origins import BACKGROUND

if TYPE_CHECKING:
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection


def transaction_on(
    connection: Connection, vault: Vault | None = None, now: datetime | None = None, session_id: UUID | None = None
) -> Transaction:
    """Return the argument of an aggregate's constructor, on the connection's current transaction."""
    return Transaction(
        connection=connection,
        now=now or datetime.now(UTC),
        origin=BACKGROUND,
        vault=vault or Vault([MasterKey.generate()]),
        randomness=SystemRandomness(),
        session_id=session_id,
    )
