"""The subscriptions of a person, a range of the index by user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.sessions.sessions import within_values
from adapters.postgres.transaction import Aggregate
from core.billing.own_subscriptions import PersonalSubscription
from core.billing.provider import BillingMode
from core.services.subscriptions import SubscriptionStatus
from core.sessions.caller_limits import Confinement

_WITHIN: Final = """
    (%(within)s::uuid IS NULL
     OR ({organization} = %(within)s AND (%(within_service)s::uuid IS NULL OR service_id = %(within_service)s)))
"""
PAGE: Final = f"""
    WITH current AS (
        SELECT   DISTINCT ON (service_id) *, status IN ('active', 'past_due') AS is_live
        FROM     subscriptions
        WHERE    user_id = %(user_id)s AND {_WITHIN.format(organization="organization_id")}
          AND    NOT EXISTS (SELECT FROM organizations o WHERE o.id = organization_id AND o.status = 'deleting')
        ORDER BY service_id, is_live DESC, created_at DESC, id DESC),
    page AS (
        SELECT   *, count(*) OVER () AS total
        FROM     current
        ORDER BY is_live DESC, created_at DESC, id DESC
        LIMIT    %(limit)s)
    SELECT   b.total, b.service_id, v.name AS service_name, o.name AS organization_name, p.name AS plan_name, b.status,
             b.current_period_end, b.created_at, b.billing_subscription_id IS NOT NULL AS is_billed,
             EXISTS (SELECT FROM billing_customers c
                     WHERE  c.user_id = b.user_id AND c.service_id = b.service_id
                       AND  c.seller_organization_id = b.organization_id AND c.mode = %(mode)s
                       AND  c.deleted_at IS NULL) AS is_own_customer
    FROM     page b
    JOIN     services v ON v.id = b.service_id AND v.organization_id = b.organization_id
    JOIN     organizations o ON o.id = b.organization_id
    JOIN     plans p ON p.id = b.plan_id AND p.service_id = b.service_id
    ORDER BY b.is_live DESC, b.created_at DESC, b.id DESC
"""
_CUSTOMER: Final = f"""
    SELECT seller_organization_id, id
    FROM   billing_customers
    WHERE  user_id = %(user_id)s AND service_id = %(service_id)s AND mode = %(mode)s AND deleted_at IS NULL
      AND  {_WITHIN.format(organization="seller_organization_id")}
"""


class PostgresSubscriptionsOfUser(Aggregate):
    """The port `SubscriptionsOfUser`."""

    def of_user(
        self, user_id: UUID, mode: BillingMode, *, limits: Confinement | None, limit: int
    ) -> tuple[Sequence[PersonalSubscription], int]:
        values = {"user_id": user_id, "mode": mode.value, "limit": limit, **within_values(limits)}
        return self._page_of(_subscription, PAGE, values)

    def customer_of(
        self, user_id: UUID, service_id: UUID, mode: BillingMode, *, limits: Confinement | None
    ) -> tuple[UUID, str] | None:
        row = self._row(
            _CUSTOMER,
            {"user_id": user_id, "service_id": service_id, "mode": mode.value, **within_values(limits)},
        )
        return (row["seller_organization_id"], row["id"]) if row is not None else None


def _subscription(*, status: str, **columns: Any) -> PersonalSubscription:
    return PersonalSubscription(status=SubscriptionStatus(status), **columns)
