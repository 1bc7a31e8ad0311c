"""Webhooks in their table. The secrets are sealed, and deleting a webhook deletes its deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from adapters.crypto.vault import Vault
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.webhooks.webhooks import SigningSecrets, Webhook

_SECRET: Final = {"table": "webhooks", "column": "secret_sealed"}
_PREVIOUS_SECRET: Final = {"table": "webhooks", "column": "previous_secret_sealed"}


class PostgresWebhooks(Aggregate):
    """The port `Webhooks`."""

    def of_organization(self, organization_id: UUID) -> Sequence[Webhook]:
        return self._all(
            Webhook,
            f"SELECT {columns(Webhook)} FROM webhooks WHERE organization_id = %s ORDER BY created_at, id",
            (organization_id,),
        )

    def count(self, organization_id: UUID) -> int:
        return self._value("SELECT count(*) FROM webhooks WHERE organization_id = %s", (organization_id,))

    def find(self, organization_id: UUID, webhook_id: UUID) -> Webhook | None:
        return self._one(
            Webhook,
            f"SELECT {columns(Webhook)} FROM webhooks WHERE organization_id = %s AND id = %s",
            (organization_id, webhook_id),
        )

    def add(self, organization_id: UUID, webhook: Webhook, secrets: SigningSecrets) -> bool:
        return self._changes_one(
            f"""
            WITH added AS (
                INSERT INTO webhooks ({columns(Webhook)}, organization_id, secret_sealed)
                VALUES ({placeholders(Webhook)}, %(organization_id)s, %(secret_sealed)s)
                ON CONFLICT (organization_id, name) DO NOTHING
                RETURNING id, organization_id
            )
            INSERT INTO webhook_queues (webhook_id, organization_id)
            SELECT id, organization_id FROM added
            """,
            {
                **values(webhook),
                "organization_id": organization_id,
                "secret_sealed": self._transaction.vault.seal(
                    secrets.current.reveal().encode(), row=webhook.id, **_SECRET
                ),
            },
        )

    def save(self, organization_id: UUID, webhook: Webhook) -> bool:
        return self._changes_one(
            f"""
            UPDATE webhooks
            SET    {assignments(Webhook, without=("id", "created_at"))},
                   off_reason = CASE WHEN NOT %(is_active)s THEN off_reason END,
                   off_at = CASE WHEN NOT %(is_active)s THEN off_at END
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            AND    NOT EXISTS (SELECT FROM webhooks other
                               WHERE  other.organization_id = %(organization_id)s AND other.name = %(name)s
                               AND    other.id <> %(id)s)
            """,
            values(webhook) | {"organization_id": organization_id},
        )

    def secrets_of(self, organization_id: UUID, webhook_id: UUID) -> SigningSecrets:
        [row] = self._rows(
            """
            SELECT id, secret_sealed, previous_secret_sealed, previous_secret_until
            FROM   webhooks
            WHERE  organization_id = %s AND id = %s
            """,
            (organization_id, webhook_id),
        )
        return opened_secrets(self._transaction.vault, row)

    def save_secrets(self, organization_id: UUID, webhook_id: UUID, secrets: SigningSecrets) -> None:
        vault, previous = self._transaction.vault, secrets.previous
        self._connection.execute(
            """
            UPDATE webhooks
            SET    secret_sealed = %s, previous_secret_sealed = %s, previous_secret_until = %s, updated_at = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (
                vault.seal(secrets.current.reveal().encode(), row=webhook_id, **_SECRET),
                vault.seal(previous.reveal().encode(), row=webhook_id, **_PREVIOUS_SECRET) if previous else None,
                secrets.previous_until,
                self._transaction.now,
                organization_id,
                webhook_id,
            ),
        )

    def switch_off(self, organization_id: UUID, webhook_id: UUID, reason: str, *, url: str) -> Webhook | None:
        return self._one(
            Webhook,
            f"""
            UPDATE    webhooks
            SET       is_active = false, off_reason = %s, off_at = %s, updated_at = %s
            WHERE     organization_id = %s AND id = %s AND url = %s AND is_active
            RETURNING {columns(Webhook)}
            """,
            (reason, self._transaction.now, self._transaction.now, organization_id, webhook_id, url),
        )

    def remove(self, organization_id: UUID, webhook_id: UUID) -> bool:
        return self._changes_one(
            "DELETE FROM webhooks WHERE organization_id = %s AND id = %s", (organization_id, webhook_id)
        )


def opened_secrets(vault: Vault, row: Mapping[str, Any]) -> SigningSecrets:
    """Return the secrets of a row of `webhooks`; raise `SealBroken` when a master key is missing."""
    previous = row["previous_secret_sealed"]
    return SigningSecrets(
        current=Secret(vault.open(row["secret_sealed"], row=row["id"], **_SECRET).decode()),
        previous=Secret(vault.open(previous, row=row["id"], **_PREVIOUS_SECRET).decode()) if previous else None,
        previous_until=row["previous_secret_until"],
    )
