"""Storage of sessions, and of the caller behind one."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sessions.callers import Caller
from core.sessions.confinement import Confinement
from core.sessions.refresh import Refreshable
from core.sessions.sessions import EndedImpersonation, EndedSession, ParentSession, Session
from core.sessions.token_additions import TokenSubject


class Sessions(Protocol):
    """Sessions. The methods that revoke return the organization of each revoked session, None for one without.

    They also revoke the impersonations that began in those sessions, and their children, which are listed after them.
    When an organization ends a session, it ends the children that belong to it too.
    """

    def add(self, session: Session, *, refresh_hash: bytes) -> None:
        """Store a new session."""
        ...

    def find_refreshable(self, session_id: UUID, *, is_limited: bool = False) -> Refreshable | None:
        """Load a session with its caller; None when `Callers.of_session` would return None."""
        ...

    def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
        """Replace the hash of the refresh token, and record that the session was used now.

        Keep the times of the last `remembered_max` exchanges. False when the session has ended or has another token, so
        that of two concurrent calls one succeeds.
        """
        ...

    def exchange_own(
        self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int
    ) -> Refreshable | None:
        """Load an account's own session and do what `exchange` does, in one statement.

        None when that fails, and when only the use case can decide whether to refuse the refresh.
        """
        ...

    def hand_over(self, session_id: UUID, *, new_hash: bytes) -> None:
        """Replace the hash of the refresh token of a live session, and record that it was used now.

        The times of earlier exchanges are deleted. The session is locked until the transaction ends.
        """
        ...

    def lock_refresh_hash(self, session_id: UUID) -> bytes | None:
        """Lock a live session and return the hash of its refresh token; None when the session has ended."""
        ...

    def move(self, session_id: UUID, *, organization_id: UUID, new_hash: bytes, remembered_max: int) -> None:
        """Store another context of a locked session, and the hash of its next refresh token.

        As `exchange` does, record that the session was used now, and keep the times of the last exchanges.
        """
        ...

    def leave_organization(self, session_id: UUID) -> None:
        """Remove the organization from the context of a session."""
        ...

    def add_methods(self, session_id: UUID, methods: Sequence[str]) -> None:
        """Add authentication methods that were proved during a session to those with which it began."""
        ...

    def alive_of(self, user_id: UUID) -> Sequence[Session]:
        """List a user's live sessions, the most recently used first."""
        ...

    def revoke(self, session_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """Revoke a session of this user, unless it has ended already."""
        ...

    def revoke_each(self, session_ids: Sequence[UUID], *, user_id: UUID) -> Sequence[UUID | None]:
        """Revoke these sessions of a user, except those that have ended already."""
        ...

    def revoke_all(self, user_id: UUID, *, except_session_id: UUID | None = None) -> Sequence[UUID | None]:
        """Revoke the live sessions of a user."""
        ...

    def revoke_within(
        self, limits: Confinement, *, user_id: UUID, except_session_id: UUID | None
    ) -> Sequence[UUID | None]:
        """Revoke the live sessions of a user that the limits cover (`Confinement.covers`)."""
        ...

    def revoke_of_device(self, device_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """Revoke the live sessions of a user that began on one of their devices."""
        ...

    def revoke_in_organization(self, organization_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """Revoke the live sessions of a user in the context of an organization, its services included."""
        ...

    def revoke_by_any_connection(self, user_id: UUID, *, except_session_id: UUID) -> Sequence[UUID | None]:
        """End a user's sessions by upstream connections except one; return their contexts."""
        ...

    def revoke_of_service(self, service_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        """Revoke the live sessions of a user that belong to a service."""
        ...

    def revoke_by_connection(self, organization_id: UUID, connection_id: UUID) -> Sequence[EndedSession]:
        """Revoke the live sessions that began by a connection, and return them with their users."""
        ...

    def narrow_to_member(self, organization_id: UUID, role: str, user_ids: Sequence[UUID] | None = None) -> None:
        """Let sessions that began by a connection's assertion alone open a role no longer; of these users, or of all.

        Sessions by a connection through which people join with that role stay as they are.
        """
        ...

    def revoke_not_by_connection(
        self, organization_id: UUID, connection_id: UUID, *, domain: str
    ) -> Sequence[EndedSession]:
        """Revoke live sessions of an organization's members and end users that did not begin by a connection.

        They are sessions on the platform or in the context of the organization, of users with an address in a mail
        domain, except the organization's owner and platform owners. Return them with their users.
        """
        ...

    def end_impersonations_begun_in(self, session_id: UUID) -> Sequence[EndedImpersonation]:
        """Revoke the live impersonations that began in a session, and return them; one of two racers ends each."""
        ...

    def end_impersonations(self, user_id: UUID) -> None:
        """Revoke the impersonations by this user, and those of this user by others."""
        ...


class Callers(Protocol):
    """The callers behind sessions.

    The account's own session is read in one statement. A session that is limited, to a service for instance, takes one
    with `is_limited`; without it, it takes two when this process reads it first.
    """

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> Caller | None:
        """Load the current state of the user, the session and its context.

        None when the session has ended, the account is deactivated, or the impersonator is no longer a platform owner.
        """
        ...

    def subject(self, session_id: UUID, *, is_limited: bool = False) -> TokenSubject | None:
        """Load the caller with the claims that the record of the service adds to tokens, to issue one."""
        ...

    def defer_subject(self, session_id: UUID) -> Deferred[TokenSubject | None]:
        """Defer `subject` of a session of a service."""
        ...

    def defer_lock_parent(self, session_id: UUID, user_id: UUID) -> Deferred[ParentSession | None]:
        """Defer loading a session of a user, locked so that it does not end before this transaction.

        None when `of_session` would return None. What is deferred after it is read behind the lock.
        """
        ...
