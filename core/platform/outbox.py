"""The outbox as the pages of the platform list it: by state, with the number of unsent mails in each.

The content of a mail is never read. Support sees no mails to platform owners. Sending a mail again is in `mails.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import helped_accounts
from core.accounts.helped_accounts import NarrowedList
from core.email_addresses import canonical_email
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.mail.mail import MailState
from core.platform.mails import ListedMailState, OutboxFilter, OutboxMail
from core.positions import Position

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The states of unsent mails, in the order in which they need attention.
NOT_SENT: Final = (ListedMailState.FAILED, ListedMailState.QUEUED, ListedMailState.ROUTED, ListedMailState.KEPT)
# Lists of waiting mails have the oldest first, all others the newest.
WAITING: Final = frozenset({ListedMailState.QUEUED, ListedMailState.ROUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailOrganization:
    """The organization that a mail belongs to."""

    id: UUID
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMail:
    """A mail without its content, and its organization; None for the platform, and for a deleted organization."""

    mail: OutboxMail
    organization: MailOrganization | None

    @property
    def position(self) -> Position:
        """The place of the mail in the list."""
        return Position(at=self.mail.created_at, id=self.mail.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMails:
    """A part of the found mails, the number of all, and the numbers of unsent ones, by their states.

    The numbers are exact up to `COUNTED_MAX`, and one more than that beyond; the list goes on at `next`, None at its
    end.
    """

    found: Sequence[ListedMail]
    total: int
    next: Position | None
    not_sent: Mapping[ListedMailState, int]


def browse(uow: UnitOfWork, wanted: OutboxFilter, *, after: Position | None, limit: int) -> FoundMails:
    """Return a part of the outbox, as a platform owner or support; waiting mails oldest first, others newest first."""
    hides_owners = not helped_accounts.open_list(uow, NarrowedList.MAILS, wanted).acts_as_platform_owner
    recipient = canonical_email(wanted.email, uow.domain_names.to_ascii) if wanted.email else None
    state = MailState(wanted.state) if wanted.state is not None else None
    found = uow.elsewhere.browsed_outbox.page(
        state=state,
        recipient=recipient,
        is_oldest_first=wanted.state in WAITING,
        after=after,
        limit=limit + 1,
        hides_owners=hides_owners,
    )
    listed = found[:limit]
    undelivered = uow.elsewhere.browsed_outbox.count_undelivered(counted_max=COUNTED_MAX + 1, hides_owners=hides_owners)
    not_sent = {one: undelivered[MailState(one)] for one in NOT_SENT}
    is_counted = wanted.state in not_sent and recipient is None
    return FoundMails(
        found=listed,
        total=not_sent[wanted.state]
        if wanted.state is not None and is_counted
        else uow.elsewhere.browsed_outbox.count(
            state=state, recipient=recipient, counted_max=COUNTED_MAX + 1, hides_owners=hides_owners
        ),
        next=listed[-1].position if len(found) > limit else None,
        not_sent=not_sent,
    )
