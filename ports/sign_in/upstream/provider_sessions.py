"""Storage of how the providers of connections name the sessions by which they have signed users in."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sign_in.identities import ProviderSession


class ProviderSessions(Protocol):
    """One for each session that a connection began; it stays when that has ended, until that is deleted."""

    def put(self, organization_id: UUID, connection_id: UUID, session_id: UUID, known: ProviderSession) -> None:
        """Store how the provider of a connection names a session, in place of what it was named before."""
        ...

    def named(
        self, organization_id: UUID, connection_id: UUID, name: str, indexes: Sequence[str], *, limit: int
    ) -> Sequence[UUID]:
        """List the sessions that a connection has begun under a name: the newest first, but ended ones last.

        Those are many for somebody who signs in daily, and must not keep one that lives behind the limit. With indexes
        only those; one whose provider has named no index has each of them.
        """
        ...

    def of_index(self, organization_id: UUID, connection_id: UUID, index: str, *, limit: int) -> Sequence[UUID]:
        """List the sessions that a connection has begun under an index, whoever has them, in the same order."""
        ...

    def forget_token(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> None:
        """Forget the ID token of a session, which has gone back to its provider."""
        ...

    def find(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> ProviderSession | None:
        """Return how the provider of a connection names a session; None when it names none."""
        ...
