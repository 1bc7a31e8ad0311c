"""Subscriptions in the console, found among those of their organization alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.transaction import Aggregate
from core.services.sold_subscriptions import SoldSubscription
from core.services.subscriptions import SubscriptionStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.positions import Position
    from core.services.sold_subscriptions import SoldFilter

_JOINED: Final = """
    FROM   subscriptions b
    JOIN   services s ON s.id = b.service_id AND s.organization_id = b.organization_id
    JOIN   plans p ON p.service_id = b.service_id AND p.id = b.plan_id
    LEFT   JOIN service_users l
                ON l.organization_id = b.organization_id AND l.service_id = b.service_id AND l.user_id = b.user_id
"""
_SHOWN: Final = f"""
    SELECT b.id, b.service_id, s.name AS service_name, s.slug AS service_slug, b.user_id, l.email, b.plan_id,
           p.name AS plan_name, p.price_cents, p.currency, b.status, b.current_period_end, b.created_at,
           b.billing_subscription_id IS NOT NULL AND b.status IN ('active', 'past_due') AS is_billed
    {_JOINED}
"""
_WANTED: Final = """
    b.organization_id = %(organization_id)s
    AND (%(statuses)s::text[] IS NULL OR b.status = ANY (%(statuses)s))
    AND (%(service_slug)s = '' OR b.service_id = (SELECT id FROM services
                                                  WHERE  organization_id = %(organization_id)s
                                                    AND  slug = %(service_slug)s))
    AND (%(plan_id)s::uuid IS NULL OR b.plan_id = %(plan_id)s)
    AND (%(part)s = '' OR b.user_id = ANY (ARRAY(SELECT l.user_id
                                                 FROM   service_users l
                                                 WHERE  l.organization_id = %(organization_id)s
                                                   AND  strpos(l.email, %(part)s) > 0)))
"""
PAGE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   b.id
        FROM     subscriptions b
        WHERE    {_WANTED} AND (%(at)s::timestamptz IS NULL OR (b.created_at, b.id) < (%(at)s, %(id)s))
        ORDER BY b.created_at DESC, b.id DESC
        LIMIT    %(limit)s)
    {_SHOWN}
    JOIN     page ON page.id = b.id
    WHERE    b.organization_id = %(organization_id)s
    ORDER BY b.created_at DESC, b.id DESC
"""  # noqa: S608 - composed only of constants
COUNT: Final = f"""
    SELECT count(*) FROM (SELECT FROM subscriptions b WHERE {_WANTED} LIMIT %(counted_max)s) AS counted
"""  # noqa: S608 - composed only of constants


class PostgresSoldSubscriptions(Aggregate):
    """The port `SoldSubscriptions`."""

    def page(
        self, organization_id: UUID, wanted: SoldFilter, *, after: Position | None, limit: int
    ) -> Sequence[SoldSubscription]:
        given = _values(organization_id, wanted) | {
            "at": after.at if after is not None else None,
            "id": after.id if after is not None else None,
            "limit": limit,
        }
        # Planned for what is given: a plan for any filter would keep all of them.
        return self._all(_sold, PAGE, given, prepare=False)

    def count(self, organization_id: UUID, wanted: SoldFilter, *, counted_max: int) -> int:
        return self._value(COUNT, _values(organization_id, wanted) | {"counted_max": counted_max})

    def find(self, organization_id: UUID, subscription_id: UUID) -> SoldSubscription | None:
        return self._one(
            _sold, f"{_SHOWN} WHERE b.organization_id = %s AND b.id = %s", (organization_id, subscription_id)
        )


def _values(organization_id: UUID, wanted: SoldFilter) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "part": wanted.part,
        "statuses": sorted(wanted.statuses) or None,
        "service_slug": wanted.service_slug,
        "plan_id": wanted.plan_id,
    }


def _sold(*, status: str, **row: Any) -> SoldSubscription:
    return SoldSubscription(status=SubscriptionStatus(status), **row)
