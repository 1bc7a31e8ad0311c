"""Webhooks in the tables, their events, and the steps of a dispatcher, for tests of leases and of sequencing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from adapters.crypto.vault import Vault
from adapters.postgres.webhooks.webhooks import PostgresWebhooks
from core.events.events import EventType
from core.secrets import Secret
from core.webhooks import deliveries, sequencing
from core.webhooks.deliveries import LeasedWebhook
from core.webhooks.webhooks import SigningSecrets, Webhook
from tests.transactions import transaction_on
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]


SECRETS = SigningSecrets(current=Secret("whsec_AAAA"))


def publish_all(uow: Any, organization_id: UUID, *names: str) -> None:
    """Publish events of an organization."""
    for name in names:
        uow.publish(EventType.USER_INVITED, organization_id=organization_id, name=name)


class Sender:
    """Webhooks in the tables, and the steps of a dispatcher."""

    def __init__(self, builder: Builder, transact: Transact, vault: Vault) -> None:
        self.builder = builder
        self.transact = transact
        self.vault = vault

    def webhook(self, organization_id: UUID, name: str = "hook") -> UUID:
        """Insert a webhook that subscribes to invitations."""
        webhook_id, now = new_id(), self.builder.clock()
        added = PostgresWebhooks(transaction_on(self.builder.connection, self.vault)).add(
            organization_id,
            Webhook(
                id=webhook_id,
                name=name,
                url="https://hooks.example.com/",
                events=[EventType.USER_INVITED.value],
                is_active=True,
                created_at=now,
                updated_at=now,
            ),
            SECRETS,
        )
        assert added
        return webhook_id

    def publish(self, organization_id: UUID, *names: str) -> None:
        """Publish events in one transaction, and hand them on."""

        self.transact(publish_all, organization_id, *names)
        self.transact(sequencing.assign_positions, 500)

    def lease(self, webhooks_max: int = 64) -> Sequence[LeasedWebhook]:
        """Lease what is due."""
        return self.transact(deliveries.lease, webhooks_max, 8)

    def queue(self) -> list[tuple[Any, Any]]:
        """Return when each webhook is due and until when it is leased."""
        rows = self.builder.rows("SELECT due_at, leased_until FROM webhook_queues ORDER BY due_at")
        return [(due_at, leased_until) for due_at, leased_until in rows]


def names(leased: Sequence[LeasedWebhook]) -> list[str]:
    """Return the names of the events in leased deliveries."""
    return [delivery.payload["data"]["name"] for webhook in leased for delivery in webhook.deliveries]
