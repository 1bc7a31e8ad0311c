"""Reading what the overview of an organization shows."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.matters import Matter, MatterKind
from core.organizations.overview import SetupSteps


class Overviews(Protocol):
    """Reads of the overview; none of them reads a large table whole."""

    def steps(self, organization_id: UUID, user_id: UUID) -> SetupSteps:
        """Return the parts that an organization has set up, and whether one of its members has a second factor."""
        ...

    def matters(
        self, organization_id: UUID, kinds: Sequence[MatterKind], *, default_seats: int, of_kind_max: int
    ) -> Sequence[Matter]:
        """Return matters of these kinds that a person has to look at, at most `of_kind_max` of each, in any order."""
        ...
