"""The services that a person may open."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.my_applications import Tile, TilePosition
from core.sessions.confinement import Confinement


class MyApplications(Protocol):
    """Reads of what a person may open."""

    def page(
        self, user_id: UUID, *, limits: Confinement | None, after: TilePosition | None, limit: int
    ) -> Sequence[Tile]:
        """List what is open to a user, by name, or from a position on, in one statement.

        With limits, what does not touch their organization is left out; `Tile.is_open_within` decides the rest.
        """
        ...
