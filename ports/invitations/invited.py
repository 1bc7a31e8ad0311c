"""Invitations as the console shows them."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.invitations.invitations import InvitationStatus
from core.invitations.invited import ListedInvitation
from core.positions import Position


class Invited(Protocol):
    """Reads of the invitations of an organization; an empty part and the status None filter nothing."""

    def page(
        self, organization_id: UUID, *, part: str, status: InvitationStatus | None, after: Position | None, limit: int
    ) -> Sequence[ListedInvitation]:
        """List invitations, the newest first, or from a position on."""
        ...

    def count(self, organization_id: UUID, *, part: str, status: InvitationStatus | None, counted_max: int) -> int:
        """Count the same invitations, up to a maximum."""
        ...
