"""Storage of the server's secrets and signing keys, and of what is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.secrets import Secret
from core.sessions.shown_secrets import Holder
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


class ServerSecrets(Protocol):
    """Secrets that all replicas share; encrypted in the database."""

    def ensure(self, name: str, fresh: bytes) -> bytes:
        """Return the secret with that name; store and return the fresh one when there is none yet."""
        ...


class ShownSecrets(Protocol):
    """Secrets by their id, sealed until they are claimed."""

    def add(
        self,
        holder: Holder,
        shown_id: UUID,
        *,
        page: str,
        secrets: Sequence[Secret],
        expires_at: datetime,
        kept_max: int,
    ) -> None:
        """Store secrets for a page and a holder; only the newest `kept_max` of the holder are kept."""
        ...

    def claim(self, holder: Holder, shown_id: UUID, *, page: str) -> tuple[Secret, ...] | None:
        """Delete and return the secrets with that id, so that of two callers one gets them.

        None when there are none, when they have expired or belong to another page or holder, and when the session of
        the holder has ended. A page shows secrets only in the browser session that made them, once.
        """
        ...
