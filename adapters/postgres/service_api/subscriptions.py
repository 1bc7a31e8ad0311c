"""Subscriptions in their table, as the backends of services see them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.services.subscriptions import SUBSCRIPTION, subscription_row
from adapters.postgres.transaction import Aggregate
from core.service_api.subscriptions import SubscriptionsPage
from core.services.api_keys import ServiceCaller
from core.services.subscriptions import SubscriptionStatus

# One query with a status and one without, because a plan for "this status or any" would use no index.
_ALL: Final = "b.service_id = %(service_id)s"
_OF_STATUS: Final = f"{_ALL} AND b.status = %(status)s"
_NEWEST: Final = "ORDER BY b.created_at DESC, b.id DESC LIMIT %(limit)s OFFSET %(offset)s"
PAGE_OF_ALL: Final = f"{SUBSCRIPTION} WHERE {_ALL} {_NEWEST}"
PAGE_OF_STATUS: Final = f"{SUBSCRIPTION} WHERE {_OF_STATUS} {_NEWEST}"
COUNT_OF_ALL: Final = f"SELECT count(*) FROM subscriptions b WHERE {_ALL}"  # noqa: S608 - made of constants alone
COUNT_OF_STATUS: Final = f"SELECT count(*) FROM subscriptions b WHERE {_OF_STATUS}"  # noqa: S608 - likewise


class PostgresServiceSubscriptions(Aggregate):
    """The port `ServiceSubscriptions`."""

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
