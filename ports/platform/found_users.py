"""Listing the users of the whole platform."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.found_users import ListedUser, UserPosition


class FoundUserList(Protocol):
    """All users, with the first organizations of each. With `hides_owners` they find no platform owner."""

    def page(self, part: str, *, after: UserPosition, limit: int, hides_owners: bool) -> Sequence[ListedUser]:
        """List the users whose address contains the part, after a position.

        First come those whose address begins with it, by address, then the newest of the others; a part of one or two
        characters is only searched at the beginning. An empty part lists the newest of all.
        """
        ...

    def count(self, part: str, *, counted_max: int, hides_owners: bool) -> int:
        """Return how many users `page` lists in all; at most `counted_max` are counted."""
        ...

    def with_id(self, user_id: UUID, *, hides_owners: bool) -> Sequence[ListedUser]:
        """Return the user of this id, or an empty list."""
        ...
