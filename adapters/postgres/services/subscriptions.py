"""Subscriptions in their table."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.services.plans import Plan
from core.services.subscriptions import Subscription, SubscriptionStatus

_JOINED: Final = ("plan_name",)
SUBSCRIPTION: Final = f"""
    SELECT {columns(Subscription, table="b", without=_JOINED)}, p.name AS plan_name
    FROM   subscriptions b
    JOIN   plans p ON p.service_id = b.service_id AND p.id = b.plan_id
"""
_CURRENT: Final = f"""
    {SUBSCRIPTION}
    WHERE    b.organization_id = %s AND b.service_id = %s AND b.user_id = %s
    ORDER BY b.status IN ('active', 'past_due') DESC, b.created_at DESC, b.id DESC
    LIMIT    1
"""
_LOCKED: Final = "FOR NO KEY UPDATE OF b"


class PostgresSubscriptions(Aggregate):
    """The port `Subscriptions`."""

    def current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        return self._one(subscription_row, _CURRENT, (organization_id, service_id, user_id))

    def lock_current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        # All of them first: which one is current may change while this waits for the lock.
        self._connection.execute(
            """
            SELECT
            FROM     subscriptions
            WHERE    organization_id = %s AND service_id = %s AND user_id = %s
            ORDER BY id
            FOR      NO KEY UPDATE
            """,
            (organization_id, service_id, user_id),
        )
        return self.current(organization_id, service_id, user_id)

    def lock_by_billing_id(self, billing_subscription_id: str) -> Subscription | None:
        return self._one(
            subscription_row,
            f"{SUBSCRIPTION} WHERE b.billing_subscription_id = %s {_LOCKED}",
            (billing_subscription_id,),
        )

    def add(self, subscription: Subscription) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO subscriptions ({columns(Subscription, without=_JOINED)}, updated_at)
            VALUES ({placeholders(Subscription, without=_JOINED)}, %(now)s)
            ON CONFLICT DO NOTHING
            """,
            values(subscription) | {"now": self._transaction.now},
        )

    def save(self, subscription: Subscription, *, becomes_live: bool) -> bool:
        if not becomes_live:
            self._save(subscription)
            return True
        try:
            # A savepoint, because a concurrent transaction is only detected by the unique index, which raises an error.
            with self._connection.transaction():
                self._save(subscription)
        except UniqueViolation:
            return False
        return True

    def are_live_of_plan(self, plan: Plan) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM subscriptions
                           WHERE  plan_id = (SELECT id FROM plans WHERE organization_id = %s AND id = %s)
                             AND  status IN ('active', 'past_due'))
            """,
            (plan.organization_id, plan.id),
        )

    def are_live_of_service(self, organization_id: UUID, service_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM subscriptions
                           WHERE  organization_id = %s AND service_id = %s AND status IN ('active', 'past_due'))
            """,
            (organization_id, service_id),
        )

    def _save(self, subscription: Subscription) -> None:
        self._connection.execute_later(
            """
            UPDATE subscriptions
            SET    plan_id = %s, status = %s, current_period_end = %s, updated_at = %s
            WHERE  organization_id = %s AND service_id = %s AND id = %s
            """,
            (
                subscription.plan_id,
                subscription.status.value,
                subscription.current_period_end,
                self._transaction.now,
                subscription.organization_id,
                subscription.service_id,
                subscription.id,
            ),
        )


def subscription_row(*, status: str, **columns: Any) -> Subscription:
    """Return the subscription of a row."""
    return Subscription(status=SubscriptionStatus(status), **columns)
