"""Reading what the mails about an undone takeover list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.organizations.takeover_mails import DatedThing, Recipient, RecordedChange


class TakeoverRecords(Protocol):
    """What an account made and changed, and the recipients of the mails about it."""

    def made_between(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, begin: datetime, end: datetime
    ) -> Sequence[DatedThing]:
        """Return what a user made in a period, from its begin until before its end, and that still works."""
        ...

    def changes_since(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime, limit: int
    ) -> Sequence[RecordedChange]:
        """Return a user's changes since then, at most `limit` of each organization, the oldest first."""
        ...

    def recipients(self, organization_ids: Sequence[UUID], *, except_user_id: UUID, limit: int) -> Sequence[Recipient]:
        """Return the owners and admins who can sign in, at most `limit` of each organization, the owner first."""
        ...
