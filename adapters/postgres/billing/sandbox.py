"""The data of the sandbox provider, in tables of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.billing.sandbox import SandboxDelivery
from core.billing.sandbox_events import SandboxCustomer, SandboxSession, SandboxSubscription, SessionKind
from ports.mailboxes import WorkKind

SUBSCRIPTIONS_OF_CUSTOMER_MAX: Final = 50
_SESSION: Final = f"SELECT {columns(SandboxSession)} FROM sandbox_sessions"
_SUBSCRIPTION: Final = f"SELECT {columns(SandboxSubscription)} FROM sandbox_subscriptions"


class PostgresSandbox(Aggregate):
    """The port `Sandbox`."""

    def add_customer(self, customer: SandboxCustomer, key: str) -> SandboxCustomer:
        self._connection.execute_later(
            f"""
            INSERT INTO sandbox_customers ({columns(SandboxCustomer)}, idempotency_key)
            VALUES ({placeholders(SandboxCustomer)}, %(key)s)
            ON CONFLICT (idempotency_key) DO NOTHING
            """,
            values(customer) | {"key": key},
        )
        return self._only(
            SandboxCustomer,
            f"""
            SELECT {columns(SandboxCustomer)}
            FROM   sandbox_customers
            WHERE  organization_id = %s AND idempotency_key = %s
            """,
            (customer.organization_id, key),
        )

    def add_session(self, session: SandboxSession, key: str | None) -> SandboxSession:
        self._connection.execute_later(
            f"""
            INSERT INTO sandbox_sessions ({columns(SandboxSession)}, idempotency_key)
            VALUES ({placeholders(SandboxSession)}, %(key)s)
            ON CONFLICT (idempotency_key) DO NOTHING
            """,
            values(session) | {"key": key},
        )
        return self._only(
            _session,
            f"{_SESSION} WHERE customer_id = %s AND (id = %s OR idempotency_key = %s)",
            (session.customer_id, session.id, key),
        )

    def session(
        self, session_id: str, kind: SessionKind, *, at: datetime, is_locked: bool = False
    ) -> SandboxSession | None:
        if is_locked:
            self._connection.execute_later("SELECT FROM sandbox_sessions WHERE id = %s FOR UPDATE", (session_id,))
        return self._one(
            _session,
            f"{_SESSION} WHERE id = %s AND kind = %s AND expires_at > %s",
            (session_id, kind.value, at),
        )

    def begin(self, subscription: SandboxSubscription, session_id: str, method_id: str) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO sandbox_subscriptions ({columns(SandboxSubscription)})
            VALUES ({placeholders(SandboxSubscription)})
            """,
            values(subscription),
        )
        self._connection.execute_later(
            "UPDATE sandbox_sessions SET subscription_id = %s WHERE id = %s", (subscription.id, session_id)
        )
        self._connection.execute_later(
            "UPDATE sandbox_customers SET default_payment_method = %s WHERE id = %s",
            (method_id, subscription.customer_id),
        )

    def subscription(self, subscription_id: str) -> SandboxSubscription | None:
        return self._one(SandboxSubscription, f"{_SUBSCRIPTION} WHERE id = %s", (subscription_id,))

    def lock_subscription(self, subscription_id: str) -> SandboxSubscription | None:
        return self._one(SandboxSubscription, f"{_SUBSCRIPTION} WHERE id = %s FOR UPDATE", (subscription_id,))

    def save_subscription(self, subscription: SandboxSubscription) -> None:
        self._connection.execute_later(
            """
            UPDATE sandbox_subscriptions
            SET    status = %s, current_period_start = %s, current_period_end = %s
            WHERE  id = %s
            """,
            (
                subscription.status,
                subscription.current_period_start,
                subscription.current_period_end,
                subscription.id,
            ),
        )

    def subscriptions_of(self, customer_id: str) -> Sequence[SandboxSubscription]:
        return self._all(
            SandboxSubscription,
            f"{_SUBSCRIPTION} WHERE customer_id = %s ORDER BY created_at DESC, id DESC LIMIT %s",
            (customer_id, SUBSCRIPTIONS_OF_CUSTOMER_MAX),
        )

    def subscriptions(self, limit: int) -> Sequence[SandboxSubscription]:
        return self._all(SandboxSubscription, f"{_SUBSCRIPTION} ORDER BY created_at DESC, id DESC LIMIT %s", (limit,))

    def add_delivery(self, delivery_id: UUID, customer_id: str, body: str, *, due_at: datetime, at: datetime) -> None:
        self._connection.execute_later(
            "INSERT INTO sandbox_deliveries (id, customer_id, body, due_at, created_at) VALUES (%s, %s, %s, %s, %s)",
            (delivery_id, customer_id, body, due_at, at),
        )
        self._transaction.made_due.add(WorkKind.SANDBOX)

    def claim_deliveries(self, *, now: datetime, leased_until: datetime, limit: int) -> Sequence[SandboxDelivery]:
        claimed = self._all(
            SandboxDelivery,
            """
            UPDATE    sandbox_deliveries
            SET       due_at = %(leased_until)s, attempts = attempts + 1
            WHERE     id = ANY (ARRAY(
                SELECT   id
                FROM     sandbox_deliveries
                WHERE    due_at <= %(now)s
                ORDER BY due_at, id
                LIMIT    %(limit)s
                FOR      UPDATE SKIP LOCKED))
            RETURNING id, body, attempts
            """,
            {"now": now, "leased_until": leased_until, "limit": limit},
        )
        return sorted(claimed, key=lambda delivery: delivery.id)

    def end_delivery(self, delivery_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM sandbox_deliveries WHERE id = %s", (delivery_id,))

    def postpone_delivery(self, delivery_id: UUID, *, until: datetime) -> None:
        self._connection.execute_later("UPDATE sandbox_deliveries SET due_at = %s WHERE id = %s", (until, delivery_id))


def _session(*, kind: str, **columns: Any) -> SandboxSession:
    return SandboxSession(kind=SessionKind(kind), **columns)
