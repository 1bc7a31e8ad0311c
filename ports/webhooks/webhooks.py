"""Storage of webhooks, their health, and sending to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.attempts import Attempt
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery
from core.webhooks.health import HealthFigures, HourOfDeliveries, ListedWebhook
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


class WebhookHealths(Protocol):
    """Counts of deliveries and durations of attempts, each of a bounded number of rows."""

    def of_organization(self, organization_id: UUID, *, since: datetime, counted_max: int) -> Sequence[ListedWebhook]:
        """List webhooks, the oldest first, each with the counts of its newest deliveries since a moment."""
        ...

    def hours(
        self, organization_id: UUID, webhook_id: UUID, *, first: datetime, hours: int, counted_max: int
    ) -> Sequence[HourOfDeliveries]:
        """Return the hours from the first on, each with the counts of at most this number of deliveries."""
        ...

    def figures(self, organization_id: UUID, webhook_id: UUID, *, since: datetime, attempts_max: int) -> HealthFigures:
        """Return further figures of an existing webhook, with durations of its newest attempts since a moment."""
        ...


class KnownAddresses(Protocol):
    """Addresses of users, as far as an organization knows them."""

    def of_each(self, user_ids: Mapping[UUID, Collection[UUID]], /) -> Mapping[UUID, Mapping[UUID, str]]:
        """Return for each organization the present addresses of those of its users that it knows, by their ids.

        It knows its members, the end users of its services, and former ones whose address has not changed since the
        organization removed them. The address of an anonymized account is never returned.
        """
        ...


class WebhookSender(Protocol):
    """Makes attempts; a failure of the receiver is returned, not raised."""

    async def send(
        self, organization_id: UUID, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime
    ) -> Attempt:
        """Send a delivery of an organization, signed with each secret at that time.

        Return the outcome, within 15 seconds.
        """
        ...
