"""Storage of the installation's own secrets."""

from typing import Protocol


class ServerSecrets(Protocol):
    """Secrets that all replicas share; encrypted in the database."""

    def ensure(self, name: str, fresh: bytes) -> bytes:
        """Return the secret with that name; store and return the fresh one when there is none yet."""
        ...
