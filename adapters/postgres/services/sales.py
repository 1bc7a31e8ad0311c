"""What organizations sell, in the tables of changes, of days, and of totals by organization and by currency.

Changes that are not added up yet are few, and every reading adds them, so it agrees with the list of changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.services.sales import (
    ChangeFilter,
    ChangeKind,
    PlanSums,
    Seller,
    Sold,
    SoldDay,
    SoldNames,
    SoldSums,
    SubscriptionChange,
)

_NOT_COUNTED: Final = """
    SELECT organization_id, (at AT TIME ZONE 'UTC')::date AS day, service_id, plan_id, currency,
           (kind = 'begun')::integer AS begun, (kind = 'ended')::integer AS ended, live, late, cents
    FROM   subscription_changes
    WHERE  NOT is_counted
"""
# One reading for both: a row of a day has no plan, and a row of a plan no day.
SUMS: Final = f"""
    SELECT day, service_id, plan_id, currency, coalesce(sum(begun) FILTER (WHERE day > %(before)s), 0)::bigint AS begun,
           coalesce(sum(ended) FILTER (WHERE day > %(before)s), 0)::bigint AS ended, sum(live)::bigint AS live,
           sum(late)::bigint AS late, sum(cents)::bigint AS cents
    FROM   (SELECT greatest(day, %(before)s) AS day, service_id, plan_id, currency, begun, ended, live, late, cents
            FROM   subscription_days
            WHERE  organization_id = %(organization_id)s AND day <= %(until)s
            UNION ALL
            SELECT greatest(day, %(before)s), service_id, plan_id, currency, begun, ended, live, late, cents
            FROM   ({_NOT_COUNTED}) AS waiting
            WHERE  organization_id = %(organization_id)s AND day <= %(until)s) AS found
    GROUP  BY GROUPING SETS ((day, currency), (service_id, plan_id, currency))
    ORDER  BY day, service_id, plan_id, currency
"""
_WANTED: Final = """
    c.organization_id = %(organization_id)s
    AND (%(kind)s::text IS NULL OR c.kind = %(kind)s)
    AND (%(since)s::timestamptz IS NULL OR c.at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR c.at < %(until)s)
    AND (%(service_id)s::uuid IS NULL OR c.service_id = %(service_id)s)
    AND (%(plan_id)s::uuid IS NULL OR c.plan_id = %(plan_id)s)
"""
# The address of a user of the service; of a former user, nothing is shown.
CHANGES: Final = f"""
    SELECT   c.id, c.at, c.kind, c.user_id, l.email, c.service_id, c.plan_id, s.name AS service_name,
             s.slug AS service_slug, p.name AS plan_name, c.live, c.cents, c.currency
    FROM     subscription_changes c
    LEFT     JOIN services s ON s.organization_id = c.organization_id AND s.id = c.service_id
    LEFT     JOIN plans p ON p.service_id = c.service_id AND p.id = c.plan_id
    LEFT     JOIN service_users l
                  ON l.organization_id = c.organization_id AND l.service_id = c.service_id AND l.user_id = c.user_id
    WHERE    {_WANTED}
      AND    (%(at)s::timestamptz IS NULL OR (c.at, c.id) < (%(at)s, %(id)s))
    ORDER BY c.at DESC, c.id DESC
    LIMIT    %(limit)s
"""
COUNT: Final = f"""
    SELECT count(*) FROM (SELECT FROM subscription_changes c WHERE {_WANTED} LIMIT %(counted_max)s) AS counted
"""
_TOTALS: Final = f"""
    SELECT currency, sum(live)::bigint AS live, sum(late)::bigint AS late, sum(cents)::bigint AS cents
    FROM   (SELECT currency, live, late, cents FROM currency_totals
            UNION ALL
            SELECT currency, live, late, cents FROM ({_NOT_COUNTED}) AS waiting) AS found
    GROUP  BY currency
    HAVING sum(live) > 0
    ORDER  BY sum(live) DESC, currency
    LIMIT  100
"""
SELLERS: Final = """
    SELECT   o.id, o.slug, o.name, t.live, t.late, t.cents
    FROM     subscription_totals t
    JOIN     organizations o ON o.id = t.organization_id
    WHERE    t.currency = %(currency)s AND t.live > 0
      AND    (%(cents)s::bigint IS NULL
              OR (t.cents <= %(cents)s AND (t.cents < %(cents)s OR t.organization_id > %(id)s)))
    ORDER BY t.cents DESC, t.organization_id
    LIMIT    %(limit)s
"""
NEW: Final = "SELECT 1 FROM subscription_changes WHERE NOT is_counted LIMIT 1"
ADD_UP: Final = """
    WITH taken AS (
        UPDATE subscription_changes c
        SET    is_counted = true
        -- By their places in the table: a join, or another condition on what waits, is planned by how many waited when
        -- PostgreSQL counted rows, and then reads all that wait, for each of them. The lock keeps others away.
        WHERE  c.ctid = ANY (ARRAY(SELECT ctid
                                   FROM   subscription_changes
                                   WHERE  NOT is_counted
                                   LIMIT  %(limit)s))
        RETURNING c.organization_id, (c.at AT TIME ZONE 'UTC')::date AS day, c.service_id, c.plan_id, c.currency,
                  c.kind, c.live, c.late, c.cents),
    days AS (
        INSERT INTO subscription_days AS d (organization_id, day, service_id, plan_id, currency, begun, ended, live,
                                            late, cents)
        SELECT organization_id, day, service_id, plan_id, currency, count(*) FILTER (WHERE kind = 'begun'),
               count(*) FILTER (WHERE kind = 'ended'), sum(live), sum(late), sum(cents)
        FROM   taken
        GROUP  BY organization_id, day, service_id, plan_id, currency
        ON CONFLICT (organization_id, day, service_id, plan_id, currency) DO UPDATE
        SET    begun = d.begun + excluded.begun, ended = d.ended + excluded.ended, live = d.live + excluded.live,
               late = d.late + excluded.late, cents = d.cents + excluded.cents),
    totals AS (
        INSERT INTO subscription_totals AS t (organization_id, currency, live, late, cents)
        SELECT organization_id, currency, sum(live), sum(late), sum(cents)
        FROM   taken
        GROUP  BY organization_id, currency
        ON CONFLICT (organization_id, currency) DO UPDATE
        SET    live = t.live + excluded.live, late = t.late + excluded.late, cents = t.cents + excluded.cents),
    currencies AS (
        INSERT INTO currency_totals AS t (currency, live, late, cents)
        SELECT currency, sum(live), sum(late), sum(cents)
        FROM   taken
        GROUP  BY currency
        ORDER  BY currency
        ON CONFLICT (currency) DO UPDATE
        SET    live = t.live + excluded.live, late = t.late + excluded.late, cents = t.cents + excluded.cents)
    SELECT count(*) FROM taken
"""


class PostgresSalesBook(Aggregate):
    """The port `SalesBook`."""

    def sums(self, organization_id: UUID, *, since: date, until: date) -> SoldSums:
        given = {"organization_id": organization_id, "before": since - timedelta(days=1), "until": until}
        days, plans = list[SoldDay](), list[PlanSums]()
        # Planned for the organization: a large one has most of the rows.
        for row in self._rows(SUMS, given, prepare=False):
            day, service_id, plan_id = row.pop("day"), row.pop("service_id"), row.pop("plan_id")
            if day is not None:
                days.append(SoldDay(day=day, **row))
            else:
                plans.append(PlanSums(service_id=service_id, plan_id=plan_id, **row))
        return SoldSums(days=days, plans=plans)

    def first_day(self, organization_id: UUID) -> date | None:
        return self._value(
            f"""
            SELECT least((SELECT min(day) FROM subscription_days WHERE organization_id = %(organization_id)s),
                         (SELECT min(day) FROM ({_NOT_COUNTED}) AS waiting
                          WHERE  organization_id = %(organization_id)s))
            """,
            {"organization_id": organization_id},
        )

    def names(self, organization_id: UUID) -> SoldNames:
        plans = self._rows("SELECT id, name FROM plans WHERE organization_id = %s", (organization_id,))
        services = self._rows("SELECT id, name, slug FROM services WHERE organization_id = %s", (organization_id,))
        return SoldNames(
            plans={row["id"]: row["name"] for row in plans},
            services={row["id"]: (row["name"], row["slug"]) for row in services},
        )

    def has_plans(self, organization_id: UUID) -> bool:
        return self._value(
            "SELECT EXISTS (SELECT FROM plans WHERE organization_id = %s AND NOT is_default)", (organization_id,)
        )

    def changes(
        self, organization_id: UUID, wanted: ChangeFilter, *, after: Position | None, limit: int
    ) -> Sequence[SubscriptionChange]:
        given = _values(organization_id, wanted) | {
            "at": after.at if after is not None else None,
            "id": after.id if after is not None else None,
            "limit": limit,
        }
        # Planned for what is given: a plan for any filter would keep all of them.
        return self._all(_change, CHANGES, given, prepare=False)

    def count_changes(self, organization_id: UUID, wanted: ChangeFilter, *, counted_max: int) -> int:
        given = _values(organization_id, wanted) | {"counted_max": counted_max}
        [counted] = self._values(COUNT, given, prepare=False)
        return counted

    def totals(self) -> Mapping[str, Sold]:
        return {row.pop("currency"): Sold(**row) for row in self._rows(_TOTALS)}

    def sellers(self, currency: str, *, after: tuple[int, UUID] | None, limit: int) -> Sequence[Seller]:
        cents, organization_id = after or (None, None)
        given = {"currency": currency, "cents": cents, "id": organization_id, "limit": limit}
        return self._all(_seller, SELLERS, given, prepare=False)

    def has_new(self) -> bool:
        return self._finds_any(NEW)

    def add_up(self, limit: int) -> int:
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.sales'))"):
            return 0
        return self._value(ADD_UP, {"limit": limit})


def _values(organization_id: UUID, wanted: ChangeFilter) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "kind": wanted.kind,
        "since": _begin_of(wanted.since),
        "until": _begin_of(wanted.until + timedelta(days=1)) if wanted.until is not None else None,
        "service_id": wanted.service_id,
        "plan_id": wanted.plan_id,
    }


def _begin_of(day: date | None) -> datetime | None:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day is not None else None


def _change(*, kind: str, **row: Any) -> SubscriptionChange:
    return SubscriptionChange(kind=ChangeKind(kind), **row)


def _seller(*, live: int, late: int, cents: int, **row: Any) -> Seller:
    return Seller(sold=Sold(live=live, late=late, cents=cents), **row)
