"""Port for the sessions of a user, for the user's own pages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.sessions.confinement import Confinement
from core.sign_in.own_sessions import OwnSession, SupportSession


class SessionsOfUser(Protocol):
    """The live sessions of a user, with the names of what they belong to."""

    def alive_of(
        self, user_id: UUID, *, limits: Confinement | None, current_id: UUID | None, limit: int
    ) -> tuple[Sequence[OwnSession], int]:
        """Return a user's live sessions within limits and the current one, and how many there are.

        The current one, if there is one, stands first, then the most recently used; at most `limit` are returned.
        """
        ...

    def support_of(
        self, user_id: UUID, *, only_organization_id: UUID | None, since: datetime, limit: int
    ) -> Sequence[SupportSession]:
        """Return the newest impersonations of a user since a moment, in one organization where it is named."""
        ...

    def organization_of(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> UUID | None:
        """Return the organization of a service where a user has a live session within limits; None without one."""
        ...
