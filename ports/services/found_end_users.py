"""Reading end users for the console."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.found_end_users import ListedEndUser


class FoundEndUsers(Protocol):
    """Reads of the users who are linked to a service of an organization; other users are never returned."""

    def page(
        self, organization_id: UUID, *, part: str, service: str, after: Position | None, limit: int
    ) -> Sequence[ListedEndUser]:
        """List end users after a position, the newest accounts first; an empty part or service filters nothing.

        `service` is a slug; one that the organization does not have finds nothing.
        """
        ...

    def newest(self, organization_id: UUID, *, part: str, looked_at_max: int, limit: int) -> Sequence[ListedEndUser]:
        """List the newest end users with a part in their address, among the `looked_at_max` newest links."""
        ...

    def count(self, organization_id: UUID, *, part: str, service: str, counted_max: int) -> int:
        """Count the same end users, up to a maximum."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> ListedEndUser | None:
        """Return an end user; None when the organization has no such end user."""
        ...

    def count_sessions(self, organization_id: UUID, user_id: UUID) -> int:
        """Count the live sessions of a user that the organization can end."""
        ...
