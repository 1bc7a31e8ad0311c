"""Storage of sessions: of browsers, of clients, and their ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sessions.browser_sessions import BrowserSession
from core.sessions.caller_limits import Confinement
from core.sessions.callers import Caller
from core.sessions.client_grants import ClientGrant
from core.sessions.customer_endings import ClosedSession, RecheckedBatch
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


class BrowserSessions(Protocol):
    """The secrets of the sessions that are in browsers."""

    def add(self, session_id: UUID, *, secret_hash: bytes, stays_signed_in: bool) -> None:
        """Store the secret of a new session, which belongs to the host of this request."""
        ...

    def by_secret_hash(self, secret_hash: bytes) -> BrowserSession | None:
        """Load the session with that secret, in one statement; None when `Callers.of_session` would return None."""
        ...

    def lock(self, session_id: UUID) -> BrowserSession | None:
        """Load a live browser session, locked so that it does not end before this transaction; None without one."""
        ...

    def defer_lock(self, session_id: UUID) -> Deferred[BrowserSession | None]:
        """Defer `lock`: what is deferred after it is read behind the lock."""
        ...

    def defer_lock_known(self, known: BrowserSession) -> Deferred[BrowserSession | None]:
        """Defer locking a session that this request has read, and reading its proofs and its context again."""
        ...

    def replace_secret(self, session_id: UUID, *, secret_hash: bytes) -> None:
        """Replace the secret of a session."""
        ...

    def authenticate(
        self,
        session_id: UUID,
        methods: Sequence[str],
        *,
        device_id: UUID,
        ends_at: datetime,
        bounded_until: datetime | None,
    ) -> None:
        """Record that the user of a locked session has authenticated again now, and add these methods."""
        ...

    def store_use(self, session_id: UUID, *, ends_at: datetime, leave_organization: bool) -> None:
        """Record that a session is used now, and when it ends without another use, unless it has ended already.

        With `leave_organization` it loses its organization.
        """
        ...


class ClientGrants(Protocol):
    """Client grants, each of one session; `Sessions.find_refreshable` reads them."""

    def add(self, session_id: UUID, granted: ClientGrant) -> None:
        """Store the grant of a session that has none."""
        ...


class CustomerSessions(Protocol):
    """The live sessions at services that have customers."""

    def end_lost(self, organization_id: UUID, user_ids: Collection[UUID]) -> list[ClosedSession]:
        """End the sessions of these users for an organization that they may no longer have, and return them."""
        ...

    def recheck(self, sessions_max: int) -> RecheckedBatch | None:
        """Take the first change that waits, check `sessions_max` of the sessions it concerns, and end the lost ones.

        The change is deleted when all were checked. Of two processes, one waits for the other. None when nothing waits.
        """
        ...


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
