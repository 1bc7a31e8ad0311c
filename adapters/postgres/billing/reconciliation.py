"""Subscriptions that the payment provider has to end, in the table `billing_cancellations`."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.billing.provider import BillingMode
from core.services.api_keys import ServiceCaller


class PostgresBillingCancellations(Aggregate):
    """The port `BillingCancellations`."""

    def add(self, subscription_id: str, mode: BillingMode) -> None:
        self._connection.execute_later(
            """
            INSERT INTO billing_cancellations (id, mode, due_at, created_at)
            VALUES (%s, %s, '-infinity', %s)
            ON CONFLICT (id) DO NOTHING
            """,
            (subscription_id, mode.value, self._transaction.now),
        )

    def add_of_user(self, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            INSERT INTO billing_cancellations (id, mode, due_at, created_at)
            SELECT id, mode, '-infinity', %s
            FROM   billing_subscriptions
            WHERE  user_id = %s AND check_at IS NOT NULL AND mode IS NOT NULL
            ON CONFLICT (id) DO NOTHING
            """,
            (self._transaction.now, user_id),
        )

    def drop_of_service_user(self, caller: ServiceCaller, user_id: UUID) -> None:
        # The trigger on the table queues the live ones.
        self._connection.execute_later(
            "DELETE FROM billing_subscriptions WHERE organization_id = %s AND service_id = %s AND user_id = %s",
            (caller.organization_id, caller.service_id, user_id),
        )

    def has(self, subscription_id: str) -> bool:
        return self._finds_any("SELECT FROM billing_cancellations WHERE id = %s", (subscription_id,))

    def claim(self, mode: BillingMode, *, now: datetime, due_again_at: datetime) -> str | None:
        return self._value_or_none(
            """
            UPDATE billing_cancellations
            SET    due_at = %s
            WHERE  id = (SELECT   id
                         FROM     billing_cancellations
                         WHERE    mode = %s AND due_at <= %s
                         ORDER BY due_at
                         LIMIT    1
                         FOR      UPDATE SKIP LOCKED)
            RETURNING id
            """,
            (due_again_at, mode.value, now),
        )

    def finish(self, subscription_id: str) -> None:
        self._connection.execute_later(
            "UPDATE billing_cancellations SET due_at = NULL WHERE id = %s", (subscription_id,)
        )
