"""Webhooks in their table. The secrets are sealed, and deleting a webhook deletes its deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.driver.rows import dict_row, kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.webhooks.webhooks import SigningSecrets, Webhook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from adapters.crypto.vault import Vault

_SECRET: Final = {"table": "webhooks", "column": "secret_sealed"}
_PREVIOUS_SECRET: Final = {"table": "webhooks", "column": "previous_secret_sealed"}


class PostgresWebhooks(Aggregate):
    """The port `Webhooks`."""

    def of_organization(self, organization_id: UUID) -> Sequence[Webhook]:
        return (
            self._connection.cursor(row_factory=kwargs_row(Webhook))
            .execute(
                """
                SELECT   id, name, url, events, is_active, created_at, updated_at
                FROM     webhooks
                WHERE    organization_id = %s
                ORDER BY created_at, id
                """,
                (organization_id,),
            )
            .fetchall()
        )

    def count(self, organization_id: UUID) -> int:
        [count] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute("SELECT count(*) FROM webhooks WHERE organization_id = %s", (organization_id,))
            .fetchall()
        )
        return count

    def find(self, organization_id: UUID, webhook_id: UUID) -> Webhook | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Webhook))
            .execute(
                """
                SELECT id, name, url, events, is_active, created_at, updated_at
                FROM   webhooks
                WHERE  organization_id = %s AND id = %s
                """,
                (organization_id, webhook_id),
            )
            .fetchone()
        )

    def add(self, organization_id: UUID, webhook: Webhook, secrets: SigningSecrets) -> bool:
        return (
            self._connection.execute(
                """
                WITH added AS (
                    INSERT INTO webhooks (id, organization_id, name, url, events, is_active, secret_sealed, created_at,
                                          updated_at)
                    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
                    ON CONFLICT (organization_id, name) DO NOTHING
                    RETURNING id, organization_id
                )
                INSERT INTO webhook_queues (webhook_id, organization_id)
                SELECT id, organization_id FROM added
                """,
                (
                    webhook.id,
                    organization_id,
                    webhook.name,
                    webhook.url,
                    webhook.events,
                    webhook.is_active,
                    self._transaction.vault.seal(secrets.current.reveal().encode(), row=webhook.id, **_SECRET),
                    webhook.created_at,
                    webhook.updated_at,
                ),
            ).rowcount
            == 1
        )

    def save(self, organization_id: UUID, webhook: Webhook) -> bool:
        return (
            self._connection.execute(
                """
                UPDATE webhooks
                SET    name = %(name)s, url = %(url)s, events = %(events)s, is_active = %(is_active)s,
                       updated_at = %(updated_at)s
                WHERE  organization_id = %(organization_id)s AND id = %(id)s
                AND    NOT EXISTS (SELECT FROM webhooks other
                                   WHERE  other.organization_id = %(organization_id)s AND other.name = %(name)s
                                   AND    other.id <> %(id)s)
                """,
                {
                    "organization_id": organization_id,
                    "id": webhook.id,
                    "name": webhook.name,
                    "url": webhook.url,
                    "events": webhook.events,
                    "is_active": webhook.is_active,
                    "updated_at": webhook.updated_at,
                },
            ).rowcount
            == 1
        )

    def secrets_of(self, organization_id: UUID, webhook_id: UUID) -> SigningSecrets:
        [row] = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                SELECT id, secret_sealed, previous_secret_sealed, previous_secret_until
                FROM   webhooks
                WHERE  organization_id = %s AND id = %s
                """,
                (organization_id, webhook_id),
            )
            .fetchall()
        )
        return opened_secrets(self._transaction.vault, row)

    def save_secrets(self, organization_id: UUID, webhook_id: UUID, secrets: SigningSecrets) -> None:
        vault, previous = self._transaction.vault, secrets.previous
        self._connection.execute(
            """
            UPDATE webhooks
            SET    secret_sealed = %s, previous_secret_sealed = %s, previous_secret_until = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (
                vault.seal(secrets.current.reveal().encode(), row=webhook_id, **_SECRET),
                vault.seal(previous.reveal().encode(), row=webhook_id, **_PREVIOUS_SECRET) if previous else None,
                secrets.previous_until,
                organization_id,
                webhook_id,
            ),
        )

    def deactivate(self, organization_id: UUID, webhook_id: UUID, *, url: str) -> Webhook | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Webhook))
            .execute(
                """
                UPDATE    webhooks
                SET       is_active = false, updated_at = %s
                WHERE     organization_id = %s AND id = %s AND url = %s AND is_active
                RETURNING id, name, url, events, is_active, created_at, updated_at
                """,
                (self._transaction.now, organization_id, webhook_id, url),
            )
            .fetchone()
        )

    def remove(self, organization_id: UUID, webhook_id: UUID) -> bool:
        return (
            self._connection.execute(
                "DELETE FROM webhooks WHERE organization_id = %s AND id = %s", (organization_id, webhook_id)
            ).rowcount
            == 1
        )


def opened_secrets(vault: Vault, row: Mapping[str, Any]) -> SigningSecrets:
    """Return the secrets of a row of `webhooks`; raise `SealBroken` when a master key is missing."""
    previous = row["previous_secret_sealed"]
    return SigningSecrets(
        current=Secret(vault.open(row["secret_sealed"], row=row["id"], **_SECRET).decode()),
        previous=Secret(vault.open(previous, row=row["id"], **_PREVIOUS_SECRET).decode()) if previous else None,
        previous_until=row["previous_secret_until"],
    )
