"""Reading the members that directories provision."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.scim.directory import ProvisionedMember


class ScimDirectory(Protocol):
    """The members of an organization that its directory provisions."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int
    ) -> Sequence[ProvisionedMember]:
        """List members with a part in the address or in the directory's user name, after a position, by id.

        An empty part filters nothing.
        """
        ...

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        """Count the same members, up to a maximum."""
        ...
