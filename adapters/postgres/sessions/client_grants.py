"""Client grants in the table `client_grants`."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, json_or_null, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.sessions.client_grants import ClientGrant

# The type of the service says it.
_NOT_STORED: Final = ("is_confidential",)


class PostgresClientGrants(Aggregate):
    """The port `ClientGrants`."""

    def add(self, session_id: UUID, granted: ClientGrant) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO client_grants ({columns(ClientGrant, without=_NOT_STORED)}, session_id)
            VALUES ({placeholders(ClientGrant, without=_NOT_STORED)}, %(session_id)s)
            """,
            values(granted) | {"requested_claims": json_or_null(granted.requested_claims), "session_id": session_id},
        )
