"""Port for the figures of a person's account."""

from typing import Protocol
from uuid import UUID

from core.sessions.confinement import Confinement
from core.sign_in.account_figures import AccountFigures


class FiguresOfUser(Protocol):
    """Counts what belongs to the account of a user."""

    def of_user(
        self,
        user_id: UUID,
        *,
        limits: Confinement | None,
        only_organization_id: UUID | None,
        current_id: UUID,
        figure_max: int,
    ) -> AccountFigures:
        """Return the figures of a user within limits, and of one organization where it is named, in one statement.

        Each is at most `figure_max`.
        """
        ...
