"""How people come along to another provider, in numbers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sign_in.upstream.moves import Arriving


class ConnectionMoves(Protocol):
    """Counts of the people of an organization, for what its connections would do with them."""

    def of_domain(
        self, organization_id: UUID, domain: str, *, connection_id: UUID | None, limit: int
    ) -> Sequence[Arriving]:
        """Count the members and end users with an address in a mail domain, for one connection or for each.

        At most `limit` connections, the oldest first.
        """
        ...

    def of_linked(self, organization_id: UUID, connection_id: UUID) -> Arriving | None:
        """Count the people whom a connection has linked, as if none of them were; None without the connection."""
        ...
