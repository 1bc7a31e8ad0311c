"""What the core asks of the stored sessions, and of who stands behind one."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sessions.callers import Caller
from core.sessions.refresh import Refreshable
from core.sessions.sessions import Session


class Sessions(Protocol):
    """Sessions. Whoever ends some learns of each of them in which organization it had begun."""

    def add(self, session: Session, *, refresh_hash: bytes) -> None:
        """Begin a session."""
        ...

    def find_refreshable(self, session_id: UUID) -> Refreshable | None:
        """Load a session whose caller `Callers.of_session` knows, in one statement."""
        ...

    def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
        """Store the hash of a new refresh token in place of the old one, and that the session was used now.

        Of the times when that happened so many are remembered. False when the session is over or has another token: of
        two racers one gets it.
        """
        ...

    def lock_refresh_hash(self, session_id: UUID) -> bytes | None:
        """Give the hash of the newest refresh token of a live session, and let nobody exchange it meanwhile."""
        ...

    def move(self, session_id: UUID, *, organization_id: UUID, new_hash: bytes, remembered_max: int) -> None:
        """Store another context of a session that is locked, and the hash of its next refresh token.

        As after an exchange the session was used now, and so many times of exchanges are remembered.
        """
        ...

    def alive_of(self, user_id: UUID) -> Sequence[Session]:
        """List a person's sessions that are alive, the one used last first."""
        ...

    def revoke(self, session_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """End a session of this person, unless it is over already."""
        ...

    def revoke_all(self, user_id: UUID, *, except_session_id: UUID | None = None) -> Sequence[UUID | None]:
        """End the sessions of a person that are alive."""
        ...

    def revoke_of_device(self, device_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """End the sessions that were begun on a device of this person and are alive."""
        ...

    def revoke_in_organization(self, organization_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """End the sessions of a person that are in the context of an organization, its services included."""
        ...

    def end_impersonations(self, user_id: UUID) -> None:
        """End the sessions that this person began in somebody's name, and those that somebody began in theirs."""
        ...


class Callers(Protocol):
    """Who stands behind a session."""

    def of_session(self, session_id: UUID) -> Caller | None:
        """Load the person, the session and its context as they stand now, in one statement.

        None when the session is over, the account deactivated, or the impersonator no longer a platform owner.
        """
        ...
