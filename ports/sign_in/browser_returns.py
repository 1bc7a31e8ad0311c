"""Port for the pages and requests to which browsers return after a sign-in."""

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
        """Return a return by its id; None when it is unknown, used or expired."""
        ...

    def find_lapsed(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Return a return that has expired unused, while it is kept; None otherwise."""
        ...

    def use(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Delete a return and return it, so that of two callers one gets it; None as `find`."""
        ...

    def record_sign_in(self, id_hash: bytes, session_id: UUID, *, at: datetime, expires_at: datetime) -> None:
        """Record, until `expires_at`, that a session was begun or continued for the request of a return.

        Record nothing when the return is unknown, used or expired, or has no request.
        """
        ...

    def has_signed_in(self, request_key: bytes, session_id: UUID, *, at: datetime) -> bool:
        """Return whether `record_sign_in` has recorded this session for a request."""
        ...
