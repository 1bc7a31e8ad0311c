"""Mails that wait for the mail server of their organization, and the leases of those servers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.mail.routed_mail import LeasedServer, ServerHealth


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
