"""What the core asks of the stored signing keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.sessions.signing_keys import SigningKey


class SigningKeys(Protocol):
    """The key pairs that sign tokens; the private halves are encrypted in the database."""

    def lock(self) -> Sequence[SigningKey]:
        """List the keys that are not retired, oldest first, and let nobody else change any before we end."""
        ...

    def published(self, at: datetime) -> Sequence[SigningKey]:
        """List every key that is published at that moment, oldest first, the private halves included."""
        ...

    def add(self, key: SigningKey) -> None:
        """Store a new key pair."""
        ...

    def save(self, key: SigningKey) -> None:
        """Store a key's new state."""
        ...

    def forget(self, before: datetime) -> int:
        """Delete the keys that were published until then or less; say how many."""
        ...
