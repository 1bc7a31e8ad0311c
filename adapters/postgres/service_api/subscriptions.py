"""Subscriptions in their table, as the backends of services see them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.affiliations import NAMED_ACCOUNT
from adapters.postgres.driver.columns import columns
from adapters.postgres.services.subscriptions import SUBSCRIPTION, subscription_row
from adapters.postgres.transaction import Aggregate
from core.service_api.subscriptions import SubscriptionsPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import Subscription, SubscriptionStatus

# One query with a status and one without, because a plan for "this status or any" would use no index.
_ALL: Final = "b.service_id = %(service_id)s"
_OF_STATUS: Final = f"{_ALL} AND b.status = %(status)s"
_NEWEST: Final = "ORDER BY b.created_at DESC, b.id DESC LIMIT %(limit)s OFFSET %(offset)s"
_SHOWN: Final = f"""
    SELECT {columns(Subscription, table="b", without=("plan_name", "user_id"))}, p.name AS plan_name,
           coalesce(k.known_id, b.user_id) AS user_id
    FROM   subscriptions b
    JOIN   plans p ON p.service_id = b.service_id AND p.id = b.plan_id
    LEFT JOIN known_account_ids k ON k.organization_id = b.organization_id AND k.user_id = b.user_id
"""
PAGE_OF_ALL: Final = f"{_SHOWN} WHERE {_ALL} {_NEWEST}"
PAGE_OF_STATUS: Final = f"{_SHOWN} WHERE {_OF_STATUS} {_NEWEST}"
_OF_USER: Final = f"b.organization_id = %(organization_id)s AND {_ALL} AND b.user_id = {NAMED_ACCOUNT}"
_CURRENT: Final = f"""
    WHERE    {_OF_USER}
    ORDER BY b.status IN ('active', 'past_due') DESC, b.created_at DESC, b.id DESC
    LIMIT    1
"""
COUNT_OF_ALL: Final = f"SELECT count(*) FROM subscriptions b WHERE {_ALL}"
COUNT_OF_STATUS: Final = f"SELECT count(*) FROM subscriptions b WHERE {_OF_STATUS}"


class PostgresServiceSubscriptions(Aggregate):
    """The port `ServiceSubscriptions`."""

    def current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        return self._one(subscription_row, f"{_SHOWN} {_CURRENT}", _named(caller, known_id))

    def lock_current(self, caller: ServiceCaller, known_id: UUID) -> Subscription | None:
        # All of them first: which one is current may change while this waits for the lock.
        self._connection.execute(
            f"SELECT FROM subscriptions b WHERE {_OF_USER} ORDER BY b.id FOR NO KEY UPDATE",
            _named(caller, known_id),
        )
        return self._one(subscription_row, f"{SUBSCRIPTION} {_CURRENT}", _named(caller, known_id))

    def page(
        self, caller: ServiceCaller, *, status: SubscriptionStatus | None, limit: int, offset: int
    ) -> SubscriptionsPage:
        values = {
            "service_id": caller.service_id,
            "status": status.value if status is not None else None,
            "limit": limit,
            "offset": offset,
        }
        total = self._defer_values(COUNT_OF_ALL if status is None else COUNT_OF_STATUS, values)
        page = self._all(subscription_row, PAGE_OF_ALL if status is None else PAGE_OF_STATUS, values)
        [count] = total()
        return SubscriptionsPage(subscriptions=page, total=count)

    def remove_of_user(self, caller: ServiceCaller, user_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM subscriptions WHERE organization_id = %s AND service_id = %s AND user_id = %s",
            (caller.organization_id, caller.service_id, user_id),
        )


def _named(caller: ServiceCaller, known_id: UUID) -> dict[str, UUID]:
    return {"organization_id": caller.organization_id, "service_id": caller.service_id, "id": known_id}
