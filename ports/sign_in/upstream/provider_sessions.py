"""Storage of the names that the providers of connections give to the sessions they have begun, for their logouts."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sign_in.identities import ProviderSession


class ProviderSessions(Protocol):
    """One for each session that a connection began; it stays after the session has ended, until that is deleted."""

    def put(self, organization_id: UUID, connection_id: UUID, session_id: UUID, known: ProviderSession) -> None:
        """Store the provider's name of a session, replacing an earlier one."""
        ...

    def named(
        self, organization_id: UUID, connection_id: UUID, name: str, indexes: Sequence[str], *, limit: int
    ) -> Sequence[UUID]:
        """List the sessions that a connection has begun under a name: the newest first, but ended ones last.

        A user who signs in daily has many ended ones, which must not push a live one beyond the limit. With indexes,
        only sessions with one of these; a session whose provider has named no index fits every index.
        """
        ...

    def of_index(self, organization_id: UUID, connection_id: UUID, index: str, *, limit: int) -> Sequence[UUID]:
        """List the sessions of all users that a connection has begun under an index, in the same order."""
        ...

    def forget_token(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> None:
        """Delete the ID token of a session after it was sent back to its provider."""
        ...

    def find(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> ProviderSession | None:
        """Return the provider's name of a session; None when it has none."""
        ...
