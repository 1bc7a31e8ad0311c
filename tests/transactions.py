"""A transaction for tests of single aggregates."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Transaction
from core.sessions.origins import BACKGROUND
from tests.ids import FollowingRandomness
from tests.ids import now as machine_time


def transaction_on(
    connection: Connection, vault: Vault | None = None, now: datetime | None = None, session_id: UUID | None = None
) -> Transaction:
    """Return the argument of an aggregate's constructor, on the connection's current transaction."""
    at = now or machine_time()
    return Transaction(
        connection=connection,
        now=at,
        origin=BACKGROUND,
        vault=vault or Vault([MasterKey.generate()]),
        randomness=FollowingRandomness(lambda: at),
        session_id=session_id,
    )
