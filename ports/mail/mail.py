"""Mail that is queued, its brand, and the server that it leaves by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.mail.brands import MailBrand
from core.mail.languages import LanguageChoice
from core.mail.mail import Mail, MailMessage, RenderedMail
from core.mail.routed_mail import LeasedServer, ServerHealth
from core.mail.servers import MailServer


class MailOutbox(Protocol):
    """Mails to be sent. Their values may hold links that sign users in, so they are stored encrypted."""

    def add_each(self, mails: Sequence[tuple[Mail, LanguageChoice]]) -> None:
        """Store several mails, in one statement."""
        ...

    def add_lock_link(self, token_hash: bytes, address: str, *, until: datetime) -> None:
        """Store a one-time token that locks the account of an address; do nothing when there is no account."""
        ...

    def add(self, mail: Mail, choice: LanguageChoice) -> None:
        """Queue a mail in the chosen language and, after the commit, wake the courier that sends it."""
        ...

    def claim(self, limit: int, *, now: datetime, leased_until: datetime) -> Sequence[Mail]:
        """Claim mails that are due, oldest first; no other courier can claim them before the lease ends.

        Each claim counts as an attempt, also when the courier crashes. Mails of an organization that is not active stay
        queued until it is active again.
        """
        ...

    def save(self, mail: Mail) -> bool:
        """Store the outcome of an attempt; False when another courier has claimed the mail since.

        Erase the values of a mail that was sent; those of one that has failed for good are kept for a retry by hand.
        """
        ...

    def latest(self, limit: int) -> Sequence[Mail]:
        """List the mails in the embedded mailbox, newest first."""
        ...

    def forget(self, before: datetime, limit: int) -> int:
        """Delete at most `limit` mails that were created before that time and are not queued; return how many."""
        ...

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not marked as having mails due; return how many."""
        ...


class MailCounts(Protocol):
    """Counts of mails, and of wrong codes from mails, towards their limits; all replicas share them."""

    def add(self, key: bytes, mails_max: int, period: timedelta, *, at: datetime) -> datetime | None:
        """Count a mail; if the period has as many already, count nothing and return when the next one may be counted.

        Concurrent transactions that count under the same key wait for each other.
        """
        ...

    def free_at(self, key: bytes, mails_max: int, period: timedelta, *, at: datetime) -> datetime | None:
        """Return when the next mail may be counted under a key; None for at once."""
        ...

    def add_each(self, keys: Sequence[bytes], mails_max: int, period: timedelta, *, at: datetime) -> Sequence[bytes]:
        """Count a mail under each of these different keys, in order; return those under which it was counted."""
        ...

    def take_back(self, key: bytes) -> None:
        """Undo the count that this transaction has made under a key."""
        ...

    def remove(self, keys: Sequence[bytes]) -> int:
        """Delete the counts of these keys, and return how many keys had one."""
        ...


class MailRenderer(Protocol):
    """Renders a template with its values."""

    def render(self, message: MailMessage, brand: MailBrand | None = None) -> RenderedMail:
        """Return the rendered mail, with every value escaped and a subject of one line.

        Raise `MailRefused` when a value that the template needs is missing.
        """
        ...


class MailGateway(Protocol):
    """Delivers a rendered mail to the mail server."""

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        """Deliver a mail; raise `MailRefused` for a permanent failure and `MailDeferred` for a temporary one.

        After a cancellation the mail may or may not have been delivered. A mail sent again under the same id appears to
        its recipient as the same mail.
        """
        ...


class RoutingGateway(Protocol):
    """Delivers mails to the mail servers of organizations, at public network addresses only."""

    async def send(
        self, organization_id: UUID, server: MailServer, mail_id: UUID, to: str, rendered: RenderedMail
    ) -> str:
        """Deliver a mail of an organization as `MailGateway` does, and return what the server answered.

        Raise `MailServerUnusable` when the server takes no mail at all, or none by its policy.
        """
        ...


class MailBrands(Protocol):
    """How mails of organizations look."""

    def of(self, organization_ids: Collection[UUID]) -> Mapping[UUID, MailBrand]:
        """Return the brands of the organizations that are active and have set one."""
        ...


class RoutedMail(Protocol):
    """The mails in the state `routed`, which leave by the server of their organization."""

    def has_server(self, organization_id: UUID) -> bool:
        """Whether an organization has a mail server; if so, it cannot be removed before this transaction ends."""
        ...

    def lease(self, servers_max: int, mails_max: int, *, leased_until: datetime) -> Sequence[LeasedServer]:
        """Lease servers for which mails are due, each with the oldest of its mails; no other courier gets them.

        The servers that were used longest ago come first. A failing server is not leased before its next attempt, nor
        one whose organization is not active. Being leased counts as an attempt of a mail.
        """
        ...

    def save_health(self, leased: LeasedServer, health: ServerHealth) -> bool:
        """Store the health of a leased server; False when its settings were changed, or leased again, since."""
        ...

    def release(self, leased: LeasedServer) -> None:
        """End a lease."""
        ...

    def put_back(self, organization_id: UUID, mail_ids: Sequence[UUID]) -> None:
        """Take back the attempt that a lease counted, for mails that were not attempted."""
        ...

    def expire(self, queued_before: datetime, limit: int, *, error: str) -> int:
        """Mark mails that have waited since before that time as failed, erase their values, and return how many."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Count the mails that wait for the server of an organization."""
        ...

    def reroute(self, organization_id: UUID, *, has_server: bool) -> None:
        """Let the waiting mails of an organization leave through its own server, or through the platform's again.

        They are due at once.
        """
        ...
