"""The database as different clients use it, whose shares of the connections are apart."""

from __future__ import annotations

from adapters.postgres.database import PostgresDatabase
from core.connection_uses import ConnectionUse
from core.sessions.origins import Origin

_SIGN_IN = ConnectionUse(is_sign_in=True)


def of_client(database: PostgresDatabase, number: int) -> PostgresDatabase:
    """Return the database for a sign-in from the network of this number; together they may have every place."""
    return database.on_behalf_of(Origin(ip_address=f"10.{number // 256}.{number % 256}.1"), use=_SIGN_IN)
