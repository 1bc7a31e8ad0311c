"""Customers at the payment provider, in the table `billing_customers`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from psycopg.errors import ForeignKeyViolation, UniqueViolation

from adapters.postgres.transaction import Aggregate, Transaction
from core.billing.provider import BillingMode
from core.billing.provider_customers import BillingCustomer
from core.billing.provider_events import BillingEvent

if TYPE_CHECKING:
    from core.deferred import Deferred

_COLUMNS: Final = """
    id, mode, coalesce(organization_id, seller_organization_id) AS organization_id, profile_at, profile_event_id,
    default_payment_method, deleted_at, service_id, user_id
"""
_OF_USER: Final = "seller_organization_id = %s AND service_id = %s AND user_id = %s AND mode = %s"
_CUSTOMER: Final = f"SELECT {_COLUMNS} FROM billing_customers"
# A share lock: the events of a customer's subscriptions do not wait for each other, only for a change of the customer.
_HOLD: Final = f"{_CUSTOMER} WHERE id = %s FOR SHARE"


class PostgresBillingCustomers(Aggregate):
    """The port `BillingCustomers`."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        self._held: dict[str, Deferred[BillingCustomer | None]] = {}

    def of_organization(self, organization_id: UUID, mode: BillingMode) -> BillingCustomer | None:
        return self._one(
            _customer,
            f"{_CUSTOMER} WHERE organization_id = %s AND mode = %s AND deleted_at IS NULL",
            (organization_id, mode.value),
        )

    def count_deleted(self, organization_id: UUID, mode: BillingMode) -> int:
        return self._value(
            """
            SELECT count(*)
            FROM   billing_customers
            WHERE  organization_id = %s AND mode = %s AND deleted_at IS NOT NULL
            """,
            (organization_id, mode.value),
        )

    def bind(self, customer_id: str, organization_id: UUID, mode: BillingMode) -> bool:
        self._held.pop(customer_id, None)
        try:
            # A savepoint, because only the constraints detect another customer, or the deletion of the organization.
            with self._connection.transaction():
                return self._changes_one(
                    """
                    INSERT INTO billing_customers AS known (id, mode, organization_id, created_at, updated_at)
                    VALUES (%(id)s, %(mode)s, %(organization_id)s, %(now)s, %(now)s)
                    ON CONFLICT (id) DO UPDATE
                    SET    organization_id = excluded.organization_id, updated_at = excluded.updated_at
                    WHERE  coalesce(known.organization_id, excluded.organization_id) = excluded.organization_id
                      AND  known.user_id IS NULL
                    """,
                    {
                        "id": customer_id,
                        "mode": mode.value,
                        "organization_id": organization_id,
                        "now": self._transaction.now,
                    },
                )
        except (UniqueViolation, ForeignKeyViolation):
            return False

    def of_user(
        self, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode
    ) -> BillingCustomer | None:
        return self._one(
            _customer,
            f"{_CUSTOMER} WHERE {_OF_USER} AND deleted_at IS NULL",
            (organization_id, service_id, user_id, mode.value),
        )

    def count_deleted_of_user(self, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode) -> int:
        return self._value(
            f"SELECT count(*) FROM billing_customers WHERE {_OF_USER} AND deleted_at IS NOT NULL",
            (organization_id, service_id, user_id, mode.value),
        )

    def bind_to_user(
        self, customer_id: str, organization_id: UUID, service_id: UUID, user_id: UUID, mode: BillingMode
    ) -> bool:
        self._held.pop(customer_id, None)
        try:
            # As for organizations.
            with self._connection.transaction():
                return self._changes_one(
                    """
                    INSERT INTO billing_customers AS known (id, mode, seller_organization_id, service_id, user_id,
                                                            created_at, updated_at)
                    VALUES (%(id)s, %(mode)s, %(organization_id)s, %(service_id)s, %(user_id)s, %(now)s, %(now)s)
                    ON CONFLICT (id) DO UPDATE
                    SET    seller_organization_id = excluded.seller_organization_id, service_id = excluded.service_id,
                           user_id = excluded.user_id, updated_at = excluded.updated_at
                    WHERE  known.organization_id IS NULL
                      AND  (known.user_id IS NULL
                            OR (known.service_id, known.user_id) = (excluded.service_id, excluded.user_id))
                    """,
                    {
                        "id": customer_id,
                        "mode": mode.value,
                        "organization_id": organization_id,
                        "service_id": service_id,
                        "user_id": user_id,
                        "now": self._transaction.now,
                    },
                )
        except (UniqueViolation, ForeignKeyViolation):
            return False

    def defer_hold(self, customer_id: str) -> None:
        self._held[customer_id] = self._defer_one(_customer, _HOLD, (customer_id,))

    def ensure_held(self, customer_id: str, mode: BillingMode) -> None:
        if self.held(customer_id) is None:
            self._defer_add(customer_id, mode)
            self.defer_hold(customer_id)

    def held(self, customer_id: str) -> BillingCustomer | None:
        if customer_id not in self._held:
            self.defer_hold(customer_id)
        return self._held[customer_id]()

    def lock(self, customer_id: str, mode: BillingMode) -> BillingCustomer:
        self._defer_add(customer_id, mode)
        return self._only(_customer, f"{_CUSTOMER} WHERE id = %s FOR UPDATE", (customer_id,))

    def mark_deleted(self, customer_id: str, *, at: datetime) -> None:
        self._held.pop(customer_id, None)
        self._connection.execute_later(
            "UPDATE billing_customers SET deleted_at = %s, updated_at = %s WHERE id = %s",
            (at, self._transaction.now, customer_id),
        )

    def save_profile(self, customer_id: str, event: BillingEvent) -> None:
        assert event.profile is not None, "an event without a profile has none to save"
        self._connection.execute_later(
            """
            UPDATE billing_customers
            SET    name = %s, email = %s, profile_at = %s, profile_event_id = %s, updated_at = %s
            WHERE  id = %s
            """,
            (
                event.profile.name,
                event.profile.email,
                event.occurred_at,
                event.id,
                self._transaction.now,
                customer_id,
            ),
        )

    def save_default_method(self, customer_id: str, payment_method: str | None) -> None:
        self._connection.execute_later(
            "UPDATE billing_customers SET default_payment_method = %s, updated_at = %s WHERE id = %s",
            (payment_method, self._transaction.now, customer_id),
        )

    def lease_due(self, mode: BillingMode, *, now: datetime, leased_until: datetime) -> BillingCustomer | None:
        return self._one(
            _customer,
            f"""
            UPDATE billing_customers
            SET    leased_until = %(leased_until)s
            WHERE  id = (SELECT   c.id
                         FROM     billing_subscriptions s
                         JOIN     billing_customers c
                                  ON c.id = s.customer_id
                                     AND coalesce(c.organization_id, c.seller_organization_id) = s.organization_id
                         WHERE    s.check_at <= %(now)s AND c.mode = %(mode)s
                           AND    (c.leased_until IS NULL OR c.leased_until <= %(now)s)
                         ORDER BY s.check_at
                         LIMIT    1
                         FOR      NO KEY UPDATE OF c SKIP LOCKED)
            RETURNING {_COLUMNS}
            """,
            {"mode": mode.value, "now": now, "leased_until": leased_until},
        )

    def release(self, organization_id: UUID, customer_id: str, *, leased_until: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE billing_customers
            SET    leased_until = NULL
            WHERE  coalesce(organization_id, seller_organization_id) = %s AND id = %s AND leased_until = %s
            """,
            (organization_id, customer_id, leased_until),
        )

    def _defer_add(self, customer_id: str, mode: BillingMode) -> None:
        self._connection.execute_later(
            """
            INSERT INTO billing_customers (id, mode, created_at, updated_at)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT (id) DO NOTHING
            """,
            (customer_id, mode.value, self._transaction.now, self._transaction.now),
        )


def _customer(*, mode: str, **columns: Any) -> BillingCustomer:
    return BillingCustomer(mode=BillingMode(mode), **columns)
