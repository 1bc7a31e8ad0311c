"""Reading the sign-ins that a SIEM gets, in the order of their times."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.siem import SignInCursor
from core.audit.siem_sign_ins import StreamedSignIn


class SiemSignIns(Protocol):
    """The finished sign-ins of an organization, at the products that it uses, and by its connections."""

    def first_after(self, organization_id: UUID, after: SignInCursor, *, until: datetime) -> UUID | None:
        """Return the lowest id of the sign-ins after a cursor and up to a time; None when there are none."""
        ...

    def page(
        self, organization_id: UUID, after: SignInCursor, *, first_id: UUID, until: datetime, limit: int
    ) -> Sequence[StreamedSignIn]:
        """Return the first of these sign-ins by time and id; `first_id` is what `first_after` has found.

        A sign-in from before its user belonged to the organization names neither the user nor the address of the
        request.
        """
        ...
