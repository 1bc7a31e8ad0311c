"""The data of the sandbox provider, in tables of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.billing.sandbox import Delivery
from core.billing.sandbox_records import SandboxCustomer, SandboxSession, SandboxSubscription, SessionKind
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

SUBSCRIPTIONS_OF_CUSTOMER_MAX: Final = 50


class PostgresSandbox(Aggregate):
    """The port `Sandbox`."""

    def add_customer(self, customer: SandboxCustomer, key: str) -> SandboxCustomer:
        self._connection.execute_later(
            """
            INSERT INTO sandbox_customers (id, organization_id, idempotency_key, name, default_payment_method,
                                           created_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            ON CONFLICT (idempotency_key) DO NOTHING
            """,
            (
                customer.id,
                customer.organization_id,
                key,
                customer.name,
                customer.default_payment_method,
                customer.created_at,
            ),
        )
        kept = (
            self._connection.cursor(row_factory=kwargs_row(SandboxCustomer))
            .execute(
                """
                SELECT id, organization_id, name, default_payment_method, created_at
                FROM   sandbox_customers
                WHERE  organization_id = %s AND idempotency_key = %s
                """,
                (customer.organization_id, key),
            )
            .fetchone()
        )
        assert kept is not None, "a customer was added and is not there"
        return kept

    def add_session(self, session: SandboxSession, key: str | None) -> SandboxSession:
        self._connection.execute_later(
            """
            INSERT INTO sandbox_sessions (id, kind, customer_id, idempotency_key, price_id, price_cents, currency,
                                          service_name, plan_name, metadata, success_url, return_url, expires_at,
                                          created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (idempotency_key) DO NOTHING
            """,
            (
                session.id,
                session.kind.value,
                session.customer_id,
                key,
                session.price_id,
                session.price_cents,
                session.currency,
                session.service_name,
                session.plan_name,
                Jsonb(dict(session.metadata)),
                session.success_url,
                session.return_url,
                session.expires_at,
                session.created_at,
            ),
        )
        kept = (
            self._connection.cursor(row_factory=kwargs_row(_session))
            .execute(
                """
                SELECT id, kind, customer_id, price_id, price_cents, currency, service_name, plan_name, metadata,
                       success_url, return_url, subscription_id, expires_at, created_at
                FROM   sandbox_sessions
                WHERE  customer_id = %s AND (id = %s OR idempotency_key = %s)
                """,
                (session.customer_id, session.id, key),
            )
            .fetchone()
        )
        assert kept is not None, "a page was added and is not there"
        return kept

    def session(
        self, session_id: str, kind: SessionKind, *, at: datetime, is_locked: bool = False
    ) -> SandboxSession | None:
        if is_locked:
            self._connection.execute_later("SELECT FROM sandbox_sessions WHERE id = %s FOR UPDATE", (session_id,))
        return (
            self._connection.cursor(row_factory=kwargs_row(_session))
            .execute(
                """
                SELECT id, kind, customer_id, price_id, price_cents, currency, service_name, plan_name, metadata,
                       success_url, return_url, subscription_id, expires_at, created_at
                FROM   sandbox_sessions
                WHERE  id = %s AND kind = %s AND expires_at > %s
                """,
                (session_id, kind.value, at),
            )
            .fetchone()
        )

    def begin(self, subscription: SandboxSubscription, session_id: str, method_id: str) -> None:
        self._connection.execute_later(
            """
            INSERT INTO sandbox_subscriptions (id, customer_id, price_id, price_cents, currency, description, status,
                                               metadata, current_period_start, current_period_end, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                subscription.id,
                subscription.customer_id,
                subscription.price_id,
                subscription.price_cents,
                subscription.currency,
                subscription.description,
                subscription.status,
                Jsonb(dict(subscription.metadata)),
                subscription.current_period_start,
                subscription.current_period_end,
                subscription.created_at,
            ),
        )
        self._connection.execute_later(
            "UPDATE sandbox_sessions SET subscription_id = %s WHERE id = %s", (subscription.id, session_id)
        )
        self._connection.execute_later(
            "UPDATE sandbox_customers SET default_payment_method = %s WHERE id = %s",
            (method_id, subscription.customer_id),
        )

    def subscription(self, subscription_id: str) -> SandboxSubscription | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(SandboxSubscription))
            .execute(
                """
                SELECT id, customer_id, price_id, price_cents, currency, description, status, metadata,
                       current_period_start, current_period_end, created_at
                FROM   sandbox_subscriptions
                WHERE  id = %s
                """,
                (subscription_id,),
            )
            .fetchone()
        )

    def lock_subscription(self, subscription_id: str) -> SandboxSubscription | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(SandboxSubscription))
            .execute(
                """
                SELECT id, customer_id, price_id, price_cents, currency, description, status, metadata,
                       current_period_start, current_period_end, created_at
                FROM   sandbox_subscriptions
                WHERE  id = %s
                FOR    UPDATE
                """,
                (subscription_id,),
            )
            .fetchone()
        )

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
        return (
            self._connection.cursor(row_factory=kwargs_row(SandboxSubscription))
            .execute(
                """
                SELECT   id, customer_id, price_id, price_cents, currency, description, status, metadata,
                         current_period_start, current_period_end, created_at
                FROM     sandbox_subscriptions
                WHERE    customer_id = %s
                ORDER BY created_at DESC, id DESC
                LIMIT    %s
                """,
                (customer_id, SUBSCRIPTIONS_OF_CUSTOMER_MAX),
            )
            .fetchall()
        )

    def subscriptions(self, limit: int) -> Sequence[SandboxSubscription]:
        return (
            self._connection.cursor(row_factory=kwargs_row(SandboxSubscription))
            .execute(
                """
                SELECT   id, customer_id, price_id, price_cents, currency, description, status, metadata,
                         current_period_start, current_period_end, created_at
                FROM     sandbox_subscriptions
                ORDER BY created_at DESC, id DESC
                LIMIT    %s
                """,
                (limit,),
            )
            .fetchall()
        )

    def add_delivery(self, delivery_id: UUID, customer_id: str, body: str, *, due_at: datetime, at: datetime) -> None:
        self._connection.execute_later(
            "INSERT INTO sandbox_deliveries (id, customer_id, body, due_at, created_at) VALUES (%s, %s, %s, %s, %s)",
            (delivery_id, customer_id, body, due_at, at),
        )
        self._transaction.bells.add(Bell.SANDBOX)

    def claim_deliveries(self, *, now: datetime, leased_until: datetime, limit: int) -> Sequence[Delivery]:
        claimed = (
            self._connection.cursor(row_factory=kwargs_row(Delivery))
            .execute(
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
            .fetchall()
        )
        return sorted(claimed, key=lambda delivery: delivery.id)

    def end_delivery(self, delivery_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM sandbox_deliveries WHERE id = %s", (delivery_id,))

    def postpone_delivery(self, delivery_id: UUID, *, until: datetime) -> None:
        self._connection.execute_later("UPDATE sandbox_deliveries SET due_at = %s WHERE id = %s", (until, delivery_id))


def _session(*, kind: str, **columns: Any) -> SandboxSession:
    return SandboxSession(kind=SessionKind(kind), **columns)
