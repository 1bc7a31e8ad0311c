"""Storage of the mail servers of organizations; their passwords are stored encrypted."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.mail.servers import MailServer
from core.organizations.settings.smtp import MailServerTrial, OwnerContact, StoredServer


class MailServers(Protocol):
    """The settings and the health of mail servers. A transaction that changes them has locked the organization."""

    def find(self, organization_id: UUID) -> StoredServer | None:
        """Return the mail server of an organization; None when it has none."""
        ...

    def save(self, organization_id: UUID, server: MailServer) -> None:
        """Store the mail server of an organization, replacing the previous one; it counts as working."""
        ...

    def remove(self, organization_id: UUID) -> None:
        """Delete the mail server, after the transactions that route a mail to it have ended."""
        ...

    def save_trial(self, organization_id: UUID, trial: MailServerTrial, *, settings_at: datetime) -> None:
        """Record the result of the last test, unless the settings were changed since."""
        ...

    def mark_working(self, organization_id: UUID, *, settings_at: datetime) -> None:
        """Record that the server took a mail, unless its settings were changed since, and wake the courier."""
        ...

    def find_owner(self, organization_id: UUID) -> OwnerContact | None:
        """Return what `owner_contact` does; None when the organization has no owner."""
        ...

    def owner_contact(self, organization_id: UUID) -> OwnerContact:
        """Return the address of an organization's owner, and the name of the organization."""
        ...
