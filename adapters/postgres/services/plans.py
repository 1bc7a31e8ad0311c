"""Plans in their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.limits import COUNTED_MAX
from core.positions import BEGIN, Position
from core.services.plans import CountedPlan, Plan, PlanFields
from core.services.services import Service

PLAN: Final = f"SELECT {columns(Plan)} FROM plans"
OF_SERVICE: Final = f"""
    SELECT   {columns(Plan, table="p")},
             (SELECT count(*)
              FROM   subscriptions
              WHERE  plan_id = p.id AND status IN ('active', 'past_due')) AS subscription_count
    FROM     plans p
    WHERE    p.organization_id = %s AND p.service_id = %s
    ORDER BY p.created_at, p.id
"""
# A service has few plans, so what they are called needs no index.
_FOUND: Final = """
    FROM   plans p
    WHERE  p.organization_id = %(organization_id)s AND p.service_id = %(service_id)s
    AND    (%(part)s = '' OR strpos(lower(p.name), lower(%(part)s)) > 0)
"""
FOUND: Final = f"""
    SELECT   page.*, (SELECT count(*)
                      FROM   (SELECT
                              FROM   subscriptions
                              WHERE  plan_id = page.id AND status IN ('active', 'past_due')
                              LIMIT  %(counted_max)s) AS live) AS subscription_count
    FROM     (SELECT   {columns(Plan, table="p")}
              {_FOUND}
              AND      (p.created_at, p.id) > (%(at)s, %(after)s)
              ORDER BY p.created_at, p.id
              LIMIT    %(limit)s) AS page
    ORDER BY page.created_at, page.id
"""
# The condition on the organization is on the plan: on the subscriptions it would offer the planner an index over all of
# the organization's.
SUBSCRIPTIONS: Final = """
    WITH own AS (SELECT id FROM plans WHERE organization_id = %(organization_id)s AND id = %(plan_id)s)
    SELECT (SELECT count(*)
            FROM   (SELECT FROM subscriptions
                    WHERE  plan_id = (SELECT id FROM own) AND status IN ('active', 'past_due')
                    LIMIT  %(counted_max)s) AS live) AS live,
           (SELECT count(*)
            FROM   (SELECT FROM subscriptions
                    WHERE  plan_id = (SELECT id FROM own) AND status IN ('cancelled', 'expired')
                    LIMIT  %(counted_max)s) AS ended) AS ended
"""


class PostgresPlans(Aggregate):
    """The port `Plans`."""

    def of_service(self, service: Service) -> Sequence[CountedPlan]:
        return self._all(_counted, OF_SERVICE, (service.organization_id, service.id))

    def page(self, service: Service, *, part: str, after: Position | None, limit: int) -> Sequence[CountedPlan]:
        begin = after or BEGIN
        shown = {"at": begin.at, "after": begin.id, "limit": limit, "counted_max": COUNTED_MAX + 1}
        return self._all(_counted, FOUND, _found_of(service, part) | shown)

    def count_found(self, service: Service, *, part: str, counted_max: int) -> int:
        return min(self._value(f"SELECT count(*) {_FOUND}", _found_of(service, part)), counted_max)

    def subscriptions(self, plan: Plan, *, counted_max: int) -> tuple[int, int]:
        [row] = self._rows(
            SUBSCRIPTIONS, {"organization_id": plan.organization_id, "plan_id": plan.id, "counted_max": counted_max}
        )
        return row["live"], row["ended"]

    def count(self, service: Service) -> int:
        return self._value(
            "SELECT count(*) FROM plans WHERE organization_id = %s AND service_id = %s",
            (service.organization_id, service.id),
        )

    def find(self, organization_id: UUID, service_id: UUID, plan_id: UUID) -> Plan | None:
        return self._one(
            Plan,
            f"{PLAN} WHERE organization_id = %s AND service_id = %s AND id = %s",
            (organization_id, service_id, plan_id),
        )

    def find_in_organization(self, organization_id: UUID, plan_id: UUID) -> Plan | None:
        return self._one(Plan, f"{PLAN} WHERE organization_id = %s AND id = %s", (organization_id, plan_id))

    def lock(self, service: Service, plan_id: UUID) -> Plan | None:
        # FOR UPDATE, because a new subscription locks the plan that it refers to FOR KEY SHARE.
        return self._one(
            Plan,
            f"{PLAN} WHERE organization_id = %s AND service_id = %s AND id = %s FOR UPDATE",
            (service.organization_id, service.id, plan_id),
        )

    def add(self, plan: Plan) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO plans ({columns(Plan)}, updated_at)
            VALUES ({placeholders(Plan)}, %(created_at)s)
            ON CONFLICT (billing_price_id) DO NOTHING
            """,
            values(plan),
        )

    def save(self, plan: Plan) -> bool:
        try:
            # A savepoint, because a concurrent transaction is only detected by the unique index, which raises an error.
            with self._connection.transaction():
                self._connection.execute_later(
                    f"""
                    UPDATE plans
                    SET    {assignments(PlanFields)}, updated_at = %(now)s
                    WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s AND id = %(id)s
                    """,
                    values(plan) | {"now": self._transaction.now},
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


def _found_of(service: Service, part: str) -> dict[str, Any]:
    return {"organization_id": service.organization_id, "service_id": service.id, "part": part}


def _counted(*, subscription_count: int, **columns: Any) -> CountedPlan:
    return CountedPlan(plan=Plan(**columns), subscription_count=subscription_count)
