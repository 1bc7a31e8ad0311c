"""Storage of the sessions that act for customers of services, to end those that are no longer open to their users."""

from collections.abc import Collection
from typing import Protocol
from uuid import UUID

from core.sessions.customer_endings import ClosedSession, RecheckedBatch


class CustomerSessions(Protocol):
    """The live sessions at services that have customers."""

    def end_lost(self, organization_id: UUID, user_ids: Collection[UUID]) -> list[ClosedSession]:
        """End the sessions of these users for an organization that are no longer open to them, and return them."""
        ...

    def recheck(self, sessions_max: int) -> RecheckedBatch | None:
        """Take the first change that waits, read that many of the sessions that it may have ended, and end those.

        The change is gone when all were read. Of two processes, one waits for the other. None when nothing waits.
        """
        ...
