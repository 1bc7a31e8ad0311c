"""Port for ending sign-ins that have begun and have no session yet."""

from typing import Protocol
from uuid import UUID


class UnfinishedSignIns(Protocol):
    """Sign-ins of every method that wait for their second half: a code, an authenticator's answer, an opened link."""

    def end_all(self, user_id: UUID) -> None:
        """End all of a user's unfinished sign-ins; the caller has locked the account."""
        ...

    def end_in_organization(self, organization_id: UUID, *, user_id: UUID) -> None:
        """End a user's unfinished sign-ins to an organization or one of its services."""
        ...

    def end_by_connection(self, organization_id: UUID, connection_id: UUID) -> None:
        """End all unfinished sign-ins by a connection, also those that wait for its provider's answer."""
        ...
