"""Storage of browser sessions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sessions.browser_sessions import BrowserSession


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
