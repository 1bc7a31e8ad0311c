"""Port for the secrets that a page shows once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.secrets import Secret
from core.sessions.shown_secrets import Holder


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
