"""The services that a person may open."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.my_applications import Tile, TilePosition
from core.sessions.confinement import Confinement


class MyApplications(Protocol):
    """Reads the services that a person may open."""

    def page(
        self,
        user_id: UUID,
        *,
        has_address: bool,
        limits: Confinement | None,
        after: TilePosition | None,
        limit: int,
    ) -> Sequence[Tile]:
        """List the services that are open to a user, by name, or from a position on, in one statement.

        With `has_address`, what the organization of the mail domain gave counts before the user has confirmed it.
        With limits, services that do not concern their organization are left out; `Tile.is_open_within` decides the
        rest.
        """
        ...
