"""Plans in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.errors import UniqueViolation

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.services.plans import CountedPlan, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.services.services import Service

_PLAN: Final = """
    SELECT id, organization_id, service_id, name, price_cents, currency, features, billing_price_id, is_default,
           created_at
    FROM   plans
"""
OF_SERVICE: Final = """
    SELECT   p.id, p.organization_id, p.service_id, p.name, p.price_cents, p.currency, p.features, p.billing_price_id,
             p.is_default, p.created_at,
             (SELECT count(*)
              FROM   subscriptions
              WHERE  plan_id = p.id AND status IN ('active', 'past_due')) AS subscription_count
    FROM     plans p
    WHERE    p.organization_id = %s AND p.service_id = %s
    ORDER BY p.created_at, p.id
"""


class PostgresPlans(Aggregate):
    """The port `Plans`."""

    def of_service(self, service: Service) -> Sequence[CountedPlan]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_counted))
            .execute(OF_SERVICE, (service.organization_id, service.id))
            .fetchall()
        )

    def count(self, service: Service) -> int:
        [count] = self._connection.cursor(row_factory=scalar_row).execute(
            "SELECT count(*) FROM plans WHERE organization_id = %s AND service_id = %s",
            (service.organization_id, service.id),
        )
        return count

    def find(self, service_id: UUID, plan_id: UUID) -> Plan | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Plan))
            .execute(f"{_PLAN} WHERE service_id = %s AND id = %s", (service_id, plan_id))
            .fetchone()
        )

    def find_in_organization(self, organization_id: UUID, plan_id: UUID) -> Plan | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Plan))
            .execute(f"{_PLAN} WHERE organization_id = %s AND id = %s", (organization_id, plan_id))
            .fetchone()
        )

    def by_billing_price(self, billing_price_id: str) -> Plan | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Plan))
            .execute(f"{_PLAN} WHERE billing_price_id = %s", (billing_price_id,))
            .fetchone()
        )

    def lock(self, service: Service, plan_id: UUID) -> Plan | None:
        # FOR UPDATE, because a new subscription locks the plan that it refers to FOR KEY SHARE.
        return (
            self._connection.cursor(row_factory=kwargs_row(Plan))
            .execute(
                f"{_PLAN} WHERE organization_id = %s AND service_id = %s AND id = %s FOR UPDATE",
                (service.organization_id, service.id, plan_id),
            )
            .fetchone()
        )

    def add(self, plan: Plan) -> bool:
        return (
            self._connection.execute(
                """
                INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, features,
                                   billing_price_id, is_default, created_at, updated_at)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
                ON CONFLICT (billing_price_id) DO NOTHING
                """,
                (
                    plan.id,
                    plan.organization_id,
                    plan.service_id,
                    plan.name,
                    plan.price_cents,
                    plan.currency,
                    plan.features,
                    plan.billing_price_id,
                    plan.is_default,
                    plan.created_at,
                    plan.created_at,
                ),
            ).rowcount
            == 1
        )

    def save(self, plan: Plan) -> bool:
        try:
            # A savepoint, because a concurrent transaction is only detected by the unique index, which raises an error.
            with self._connection.transaction():
                self._connection.execute_later(
                    """
                    UPDATE plans
                    SET    name = %s, price_cents = %s, currency = %s, features = %s, billing_price_id = %s,
                           updated_at = %s
                    WHERE  organization_id = %s AND service_id = %s AND id = %s
                    """,
                    (
                        plan.name,
                        plan.price_cents,
                        plan.currency,
                        plan.features,
                        plan.billing_price_id,
                        self._transaction.now,
                        plan.organization_id,
                        plan.service_id,
                        plan.id,
                    ),
                )
        except UniqueViolation:
            return False
        return True

    def remove(self, plan: Plan) -> None:
        self._connection.execute_later(
            "DELETE FROM subscriptions WHERE organization_id = %s AND service_id = %s AND plan_id = %s",
            (plan.organization_id, plan.service_id, plan.id),
        )
        self._connection.execute_later(
            "DELETE FROM plans WHERE organization_id = %s AND service_id = %s AND id = %s",
            (plan.organization_id, plan.service_id, plan.id),
        )


def _counted(*, subscription_count: int, **columns: Any) -> CountedPlan:
    return CountedPlan(plan=Plan(**columns), subscription_count=subscription_count)
