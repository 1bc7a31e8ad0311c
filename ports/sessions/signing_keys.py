"""Storage of signing keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.sessions.signing_keys import SigningKey


class SigningKeys(Protocol):
    """The key pairs that sign tokens; the private halves are encrypted in the database."""

    def lock(self) -> Sequence[SigningKey]:
        """Lock the keys of all kinds until the transaction ends, and list those that are not retired, oldest first."""
        ...

    def published(self, at: datetime) -> Sequence[SigningKey]:
        """List every key that is published at that time, oldest first, with the private halves, of all kinds."""
        ...

    def add(self, key: SigningKey) -> None:
        """Store a new key pair."""
        ...

    def save(self, key: SigningKey) -> None:
        """Store a key's new state."""
        ...

    def forget(self, before: datetime) -> int:
        """Delete the keys that were published until that time or earlier; return how many."""
        ...
