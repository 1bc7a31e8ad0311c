"""Counting the people of an organization by what a move to another connection would mean for them."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sign_in.upstream.moves import Arriving


class ConnectionMoves(Protocol):
    """Counts of the people of an organization, by how a connection would link them."""

    def of_domain(
        self, organization_id: UUID, domain: str, *, connection_id: UUID | None, limit: int
    ) -> Sequence[Arriving]:
        """Count the members and end users with an address in a mail domain, for one connection or for each.

        At most `limit` connections, the oldest first.
        """
        ...

    def of_linked(self, organization_id: UUID, connection_id: UUID) -> Arriving | None:
        """Count the people that a connection has linked, as if they were not linked; None without the connection."""
        ...
