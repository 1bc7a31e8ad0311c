"""Storage of webhooks."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.webhooks.webhooks import SigningSecrets, Webhook


class Webhooks(Protocol):
    """The webhooks of organizations; the secrets are encrypted, and read only where they are needed."""

    def of_organization(self, organization_id: UUID) -> Sequence[Webhook]:
        """List the webhooks of an organization, the oldest first."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Return the number of webhooks of an organization."""
        ...

    def find(self, organization_id: UUID, webhook_id: UUID) -> Webhook | None:
        """Return a webhook; None when the organization has none with that id."""
        ...

    def add(self, organization_id: UUID, webhook: Webhook, secrets: SigningSecrets) -> bool:
        """Store a new webhook; False when another one of the organization has its name."""
        ...

    def save(self, organization_id: UUID, webhook: Webhook) -> bool:
        """Store the new state of a webhook; False when another one of the organization has its name."""
        ...

    def secrets_of(self, organization_id: UUID, webhook_id: UUID) -> SigningSecrets:
        """Return the secrets of a webhook that exists."""
        ...

    def save_secrets(self, organization_id: UUID, webhook_id: UUID, secrets: SigningSecrets) -> None:
        """Store the secrets of a webhook."""
        ...

    def switch_off(self, organization_id: UUID, webhook_id: UUID, reason: str, *, url: str) -> Webhook | None:
        """Switch off an active webhook that still has this URL, and return it; None when there is none."""
        ...

    def remove(self, organization_id: UUID, webhook_id: UUID) -> bool:
        """Delete a webhook with its deliveries; False when there is none with that id."""
        ...
