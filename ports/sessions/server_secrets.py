"""What the core asks of the secrets of the installation itself."""

from typing import Protocol


class ServerSecrets(Protocol):
    """Secrets that every replica shares; encrypted in the database."""

    def ensure(self, name: str, fresh: bytes) -> bytes:
        """Give the secret of that name; the fresh one becomes it when there is none yet."""
        ...
