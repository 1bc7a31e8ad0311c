"""Client grants in the table `client_grants`."""

from __future__ import annotations

from uuid import UUID

from adapters.postgres.driver.columns import json_or_null
from adapters.postgres.transaction import Aggregate
from core.sessions.client_grants import ClientGrant


class PostgresClientGrants(Aggregate):
    """The port `ClientGrants`."""

    def add(self, session_id: UUID, granted: ClientGrant) -> None:
        self._connection.execute_later(
            """
            INSERT INTO client_grants (session_id, scopes, audience, key_thumbprint, host, requested_claims)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                session_id,
                list(granted.scopes),
                granted.audience,
                granted.key_thumbprint,
                granted.host,
                json_or_null(granted.requested_claims),
            ),
        )
