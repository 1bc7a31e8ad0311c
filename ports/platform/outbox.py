"""Listing the outbox without the contents of its mails."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.mail.mail import MailState
from core.platform.outbox import ListedMail
from core.positions import Position


class BrowsedOutbox(Protocol):
    """The mails of the outbox except discarded ones. With `hides_owners`, mails to platform owners are left out."""

    def page(
        self,
        *,
        state: MailState | None,
        recipient: str | None,
        is_oldest_first: bool,
        after: Position | None,
        limit: int,
        hides_owners: bool,
    ) -> Sequence[ListedMail]:
        """List the mails in a state and to one recipient, after a position; None means any, and the beginning."""
        ...

    def count(self, *, state: MailState | None, recipient: str | None, counted_max: int, hides_owners: bool) -> int:
        """Return how many mails `page` lists in all; at most `counted_max` are counted."""
        ...

    def count_undelivered(self, *, counted_max: int, hides_owners: bool) -> Mapping[MailState, int]:
        """Return how many undelivered mails there are in each state, counted in an index alone."""
        ...
