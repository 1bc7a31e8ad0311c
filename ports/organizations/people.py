"""Reading members for the console."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.people import ListedMember, MemberDeparture
from core.positions import Position


class People(Protocol):
    """Reads of members; none of them reads the accounts of the platform whole."""

    def page(
        self,
        organization_id: UUID,
        *,
        part: str,
        role: str,
        after: Position | None,
        limit: int,
        without: Collection[UUID] = (),
    ) -> Sequence[ListedMember]:
        """List members after a position, the oldest membership first; an empty part or role filters nothing.

        `without` are a few users who are left out.
        """
        ...

    def count(
        self, organization_id: UUID, *, part: str, role: str, counted_max: int, without: Collection[UUID] = ()
    ) -> int:
        """Count the same members, up to a maximum."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> ListedMember | None:
        """Return a member; None when the user is no member."""
        ...

    def among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[ListedMember]:
        """Return the members among these users, the oldest membership first."""
        ...

    def departure(self, organization_id: UUID, user_ids: Sequence[UUID]) -> MemberDeparture:
        """Count what the removal of these members would end now."""
        ...
