"""Port for reading the applications of a person."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.services.applications import Application
from core.sessions.confinement import Confinement


class ApplicationsOfUser(Protocol):
    """The services that a user has signed in to; links that the user has never used do not count."""

    def of_user(self, user_id: UUID, *, limits: Confinement | None, limit: int) -> tuple[Sequence[Application], int]:
        """Return the applications of a user within limits, the one used last first, and how many there are."""
        ...

    def find(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> Application | None:
        """Return one of them; None when the user has none with that id within the limits."""
        ...
