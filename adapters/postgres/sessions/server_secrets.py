"""The installation's own secrets in the table `server_secrets`, sealed."""

from __future__ import annotations

from adapters.postgres.transaction import Aggregate


class PostgresServerSecrets(Aggregate):
    """The port `ServerSecrets`."""

    def ensure(self, name: str, fresh: bytes) -> bytes:
        sealed = self._transaction.vault.seal(fresh, table="server_secrets", column="value_sealed", row=name)
        self._connection.execute_later(
            """
            INSERT INTO server_secrets (name, value_sealed, created_at)
            VALUES (%s, %s, %s)
            ON CONFLICT (name) DO NOTHING
            """,
            (name, sealed, self._transaction.now),
        )
        stored = self._value("SELECT value_sealed FROM server_secrets WHERE name = %s", (name,))
        return self._transaction.vault.open(stored, table="server_secrets", column="value_sealed", row=name)
