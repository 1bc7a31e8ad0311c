"""Listing the outbox without the contents of its mails."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.mail.mail import MailState
from core.platform.outbox import ListedMail
from core.positions import Position


class BrowsedOutbox(Protocol):
    """The mails of the outbox but the discarded ones. With `hides_owners` there are none to a platform owner."""

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
        """List the mails in a state and to one recipient, behind a position; None means any, and the begin."""
        ...

    def count(self, *, state: MailState | None, recipient: str | None, counted_max: int, hides_owners: bool) -> int:
        """Return how many mails `page` lists in all; at most `counted_max` are counted."""
        ...

    def count_undelivered(self, *, counted_max: int, hides_owners: bool) -> Mapping[MailState, int]:
        """Return the same of each state whose mails have not left, by their index alone."""
        ...
