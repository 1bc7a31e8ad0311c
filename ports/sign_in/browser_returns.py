"""Port for what browsers return to after a sign-in."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.sign_in.browser_returns import BrowserReturn


class BrowserReturns(Protocol):
    """Returns by the hash of their id."""

    def add(self, wanted: BrowserReturn, id_hash: bytes, *, expires_at: datetime) -> None:
        """Store a return."""
        ...

    def find(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Return the one with that id; None when it is unknown, used or expired."""
        ...

    def find_lapsed(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Return the one with that id that has expired and was not used, as long as it is kept; None otherwise."""
        ...

    def use(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Delete and return the one with that id, so that of two callers one gets it; None as `find`."""
        ...

    def record_sign_in(self, id_hash: bytes, session_id: UUID, *, at: datetime, expires_at: datetime) -> None:
        """Store, until `expires_at`, that a session was begun or continued for the request of the return with that id.

        Store nothing when the return is unknown, used or expired, or has no request.
        """
        ...

    def has_signed_in(self, request_key: bytes, session_id: UUID, *, at: datetime) -> bool:
        """Return whether that is stored for a request and a session."""
        ...
