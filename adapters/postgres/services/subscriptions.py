"""Subscriptions in their table, and in the console those to an organization's services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.services.plans import Plan
from core.services.subscriptions import ListedSubscription, Subscription, SubscriptionFilter, SubscriptionStatus

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


_SOLD_FROM: Final = """
    FROM   subscriptions b
    JOIN   services s ON s.id = b.service_id AND s.organization_id = b.organization_id
    JOIN   plans p ON p.service_id = b.service_id AND p.id = b.plan_id
    LEFT   JOIN service_users l
                ON l.organization_id = b.organization_id AND l.service_id = b.service_id AND l.user_id = b.user_id
"""
_SOLD: Final = f"""
    SELECT b.id, b.service_id, s.name AS service_name, s.slug AS service_slug, b.user_id, l.email, b.plan_id,
           p.name AS plan_name, p.price_cents, p.currency, b.status, b.current_period_end, b.created_at,
           b.billing_subscription_id IS NOT NULL AND b.status IN ('active', 'past_due') AS is_billed
    {_SOLD_FROM}
"""
_SOUGHT: Final = """
    b.organization_id = %(organization_id)s
    AND (%(statuses)s::text[] IS NULL OR b.status = ANY (%(statuses)s))
    AND (%(service_id)s::uuid IS NULL OR b.service_id = %(service_id)s)
    AND (%(plan_id)s::uuid IS NULL OR b.plan_id = %(plan_id)s)
    AND (%(user_ids)s::uuid[] IS NULL OR b.user_id = ANY (%(user_ids)s))
"""
# The index of the links holds the address. Where many people have the part in theirs, the subscriptions are read in
# their order instead.
SOLD_USERS: Final = """
    SELECT CASE WHEN count(*) <= %(most)s THEN coalesce(array_agg(DISTINCT user_id), '{}') END
    FROM   (SELECT user_id
            FROM   service_users
            WHERE  organization_id = %(organization_id)s AND strpos(email, %(part)s) > 0
            LIMIT  %(most)s + 1) AS found
"""
FEW_USERS_MAX: Final = 10_000
# A subquery for each row, which is no join: a page ends with its first rows, and so does a count at its most.
_HAS_PART: Final = """
    (%(part)s = '' OR (SELECT strpos(l.email, %(part)s) > 0
                       FROM   service_users l
                       WHERE  l.organization_id = b.organization_id AND l.service_id = b.service_id
                         AND  l.user_id = b.user_id))
"""
SOLD_PAGE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   b.id
        FROM     subscriptions b
        WHERE    {_SOUGHT} AND {_HAS_PART} AND (%(at)s::timestamptz IS NULL OR (b.created_at, b.id) < (%(at)s, %(id)s))
        ORDER BY b.created_at DESC, b.id DESC
        LIMIT    %(limit)s)
    {_SOLD}
    JOIN     page ON page.id = b.id
    WHERE    b.organization_id = %(organization_id)s
    ORDER BY b.created_at DESC, b.id DESC
"""
SOLD_COUNT: Final = f"""
    SELECT count(*) FROM (SELECT FROM subscriptions b WHERE {_SOUGHT} AND {_HAS_PART} LIMIT %(counted_max)s) AS counted
"""


class PostgresFoundSubscriptions(Aggregate):
    """The port `FoundSubscriptions`."""

    def page(
        self, organization_id: UUID, wanted: SubscriptionFilter, *, after: Position | None, limit: int
    ) -> Sequence[ListedSubscription]:
        found = self._resolved(organization_id, wanted)
        if found is None:
            return []
        given = found | {
            "at": after.at if after is not None else None,
            "id": after.id if after is not None else None,
            "limit": limit,
        }
        # Planned for what is given: a plan for any filter would keep all of them.
        return self._all(_sold, SOLD_PAGE, given, prepare=False)

    def count(self, organization_id: UUID, wanted: SubscriptionFilter, *, counted_max: int) -> int:
        found = self._resolved(organization_id, wanted)
        if found is None:
            return 0
        [counted] = self._values(SOLD_COUNT, found | {"counted_max": counted_max}, prepare=False)
        return counted

    def find(self, organization_id: UUID, subscription_id: UUID) -> ListedSubscription | None:
        return self._one(
            _sold, f"{_SOLD} WHERE b.organization_id = %s AND b.id = %s", (organization_id, subscription_id)
        )

    def _resolved(self, organization_id: UUID, wanted: SubscriptionFilter) -> dict[str, Any] | None:
        """Return the values of the filter, with the ids of what it names; None when no service has the slug."""
        service_id = None
        if wanted.service_slug:
            service_id = self._value_or_none(
                "SELECT id FROM services WHERE organization_id = %s AND slug = %s",
                (organization_id, wanted.service_slug),
            )
            if service_id is None:
                return None
        user_ids, part = None, wanted.part
        if part:
            # A user of several services is one; none are given where there are too many.
            [user_ids] = self._values(
                SOLD_USERS, {"organization_id": organization_id, "part": part, "most": FEW_USERS_MAX}
            )
        return {
            "organization_id": organization_id,
            "part": part,
            "user_ids": user_ids,
            "statuses": sorted(wanted.statuses) or None,
            "service_id": service_id,
            "plan_id": wanted.plan_id,
        }


def _sold(*, status: str, **row: Any) -> ListedSubscription:
    return ListedSubscription(status=SubscriptionStatus(status), **row)
