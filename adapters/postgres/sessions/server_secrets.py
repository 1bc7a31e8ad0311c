"""The installation's own secrets in the table `server_secrets`, sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from adapters.crypto.vault import Vault
    from adapters.postgres.driver.connection import Connection


class PostgresServerSecrets:
    """The port `ServerSecrets`."""

    def __init__(self, connection: Connection, vault: Vault, now: datetime) -> None:
        self._connection = connection
        self._vault = vault
        self._now = now

    def ensure(self, name: str, fresh: bytes) -> bytes:
        """Give the secret of that name; the fresh one becomes it when there is none yet."""
        sealed = self._vault.seal(fresh, table="server_secrets", column="value_sealed", row=name)
        self._connection.execute_later(
            """
            INSERT INTO server_secrets (name, value_sealed, created_at)
            VALUES (%s, %s, %s)
            ON CONFLICT (name) DO NOTHING
            """,
            (name, sealed, self._now),
        )
        row = self._connection.execute("SELECT value_sealed FROM server_secrets WHERE name = %s", (name,)).fetchone()
        assert row is not None, "it was there or was made"
        return self._vault.open(row[0], table="server_secrets", column="value_sealed", row=name)
