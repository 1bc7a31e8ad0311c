"""The outbox without the contents of its mails."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.mail.mail import MailState
from core.platform.mails import OutboxMail, OutboxPage


class PlatformMails(Protocol):
    """The mails of the outbox, none of whose values is read."""

    def page(
        self,
        *,
        state: MailState | None,
        recipient: str | None,
        hides_owners: bool,
        limit: int,
        offset: int,
        counted_max: int,
    ) -> OutboxPage:
        """Return a page of mails, the newest first: in one state and to one recipient, where these are named.

        None is discarded. At most `counted_max` are counted. With `hides_owners` none is to a platform owner.
        """
        ...

    def lock(self, mail_id: UUID, *, hides_owners: bool) -> OutboxMail | None:
        """Return a mail, locked until this transaction ends; None when there is none, or `hides_owners` hides it."""
        ...

    def queue_again(self, mail: OutboxMail, *, at: datetime) -> OutboxMail | None:
        """Make a locked mail due at once, and return it; after the commit its courier is woken.

        A failed mail is queued like a new one, for the mail server of its organization if it has one. None for a mail
        that a courier is sending, that was sent, or whose content is no longer kept.
        """
        ...
