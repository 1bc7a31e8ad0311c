"""Reading the sign-ins that a SIEM gets, in the order of their times."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.siem import SignInCursor
from core.audit.siem_sign_ins import StreamedSignIn


class SiemSignIns(Protocol):
    """The sign-ins of an organization, at its products and by its connections; none that waits for the user."""

    def first_after(self, organization_id: UUID, after: SignInCursor, *, until: datetime) -> UUID | None:
        """Return the lowest id of those after a place and up to a time; None without any."""
        ...

    def page(
        self, organization_id: UUID, after: SignInCursor, *, first_id: UUID, until: datetime, limit: int
    ) -> Sequence[StreamedSignIn]:
        """Return the first of them by time and id; `first_id` is what `first_after` has found.

        Who it was and from where is left out of those from before the organization had to do with the user.
        """
        ...
