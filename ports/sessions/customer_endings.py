"""Ending the sessions at services, for customers or without one, that their users may no longer have."""

from collections.abc import Collection
from typing import Protocol
from uuid import UUID

from core.sessions.customer_endings import ClosedSession, RecheckedBatch


class CustomerSessions(Protocol):
    """The live sessions at services that have customers."""

    def end_lost(self, organization_id: UUID, user_ids: Collection[UUID]) -> list[ClosedSession]:
        """End the sessions of these users for an organization that they may no longer have, and return them."""
        ...

    def recheck(self, sessions_max: int) -> RecheckedBatch | None:
        """Take the first change that waits, check `sessions_max` of the sessions it concerns, and end the lost ones.

        The change is deleted when all were checked. Of two processes, one waits for the other. None when nothing waits.
        """
        ...
