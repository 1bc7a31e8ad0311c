"""Storage of the grants that services got with sessions."""

from typing import Protocol
from uuid import UUID

from core.sessions.client_grants import ClientGrant


class ClientGrants(Protocol):
    """Client grants, each of one session; `Sessions.find_refreshable` reads them."""

    def add(self, session_id: UUID, granted: ClientGrant) -> None:
        """Store the grant of a session that has none."""
        ...
