"""Mail as the core sees it: an outbox inside the transaction, and a way out of the house beside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.mail.mail import Mail, MailMessage, RenderedMail


class MailOutbox(Protocol):
    """Letters that wait to be sent. What they say may hold links that sign people in, so it is stored encrypted."""

    def add(self, mail: Mail) -> None:
        """Queue a letter and, after the commit, wake the courier."""
        ...

    def claim(self, limit: int, *, now: datetime, leased_until: datetime) -> Sequence[Mail]:
        """Take letters that are due, oldest first; nobody else gets them before the lease ends.

        Each claim counts as an attempt, so a courier that dies holding one has used it up. Letters of an organization
        that is not active stay where they are until it is again.
        """
        ...

    def save(self, mail: Mail) -> bool:
        """Record what became of an attempt; False when the lease was lost and another courier has the letter now.

        Once a letter is sent or has failed for good, what it said is erased.
        """
        ...

    def latest(self, limit: int) -> Sequence[Mail]:
        """List the letters still kept, newest first; for the embedded mailbox."""
        ...

    def forget(self, before: datetime, limit: int) -> int:
        """Delete letters made before that moment that were dealt with, at most `limit` of them; say how many."""
        ...


class MailRenderer(Protocol):
    """Turns a template and its values into what a person reads."""

    def render(self, message: MailMessage) -> RenderedMail:
        """Fill the template in; everything that came from a person is escaped, and the subject is one line.

        Raise `MailRefused` when a value that the template needs is missing.
        """
        ...


class MailGateway(Protocol):
    """Brings a rendered mail out of the house."""

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        """Hand it over, or raise `MailRefused` (never will) or `MailDeferred` (try again).

        A caller that is cancelled cannot know whether the letter was handed over; the same id sent again shows as the
        same letter.
        """
        ...
