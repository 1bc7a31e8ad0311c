"""Storage of the logouts that browsers carry from one service provider to the next."""

from datetime import datetime
from typing import Protocol

from core.saml.logout_steps import Logout


class SamlLogouts(Protocol):
    """Logouts under the hash of their state, each bound to the hash of the key of a browser."""

    def add(self, logout: Logout, *, state_hash: bytes, browser_hash: bytes) -> bool:
        """Store a new logout; False when its service, or its connection, has one with its message id.

        A logout that a concurrent call stores counts too.
        """
        ...

    def lock(self, state_hash: bytes, browser_hash: bytes, *, at: datetime) -> Logout | None:
        """Lock a logout of a browser and return it; None when it is over or expired."""
        ...

    def lock_awaiting(self, state_hash: bytes, *, at: datetime) -> Logout | None:
        """Lock a logout that awaits an answer and return it; None when it awaits none, is over or has expired."""
        ...

    def save(self, logout: Logout) -> None:
        """Store the new state of a locked logout."""
        ...

    def remove(self, logout: Logout) -> None:
        """Mark a locked logout as over."""
        ...
