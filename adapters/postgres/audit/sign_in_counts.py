"""Sign-ins and active users by day, as ports/audit/audit_log.py says.

One statement reads a batch of the log, wherever its parts are. Another counts it: it adds the batch to the counts,
marks who was active on which day, and advances the position, all of it or nothing. A new active day of a user counts in
each window that contains no other active day of the same user: those lie between the previous one and the next one. So
a window is stored as its changes from day to day.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, Final, LiteralString, TypeVar
from uuid import UUID

from adapters.postgres.driver.columns import values
from adapters.postgres.log_times import COUNTED_AT_ONCE, first_kept_id
from adapters.postgres.transaction import Aggregate
from core.audit.analytics import Period
from core.audit.sign_in_counts import (
    ActiveUsers,
    RefusalsOfReason,
    SignInFigures,
    SignInFilter,
    SignInsByMethod,
    SignInsOfDay,
    SignInsToService,
)
from core.deletions import AgedRows
from core.ids import FIRST_ID, end_id_until, first_id_at, id_later

Row = TypeVar("Row")

# Stands in place of the id of an organization or service where there is none.
ZERO: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
DAY: Final = "(created_at AT TIME ZONE 'UTC')::date"
REASON: Final = "CASE WHEN success THEN '' ELSE coalesce(nullif(reason, ''), 'not_recorded') END"
_COUNTED: Final = f"coalesce((SELECT counted_through FROM sign_in_counting), {ZERO})"
# From `source`, the days on which users were active, to `placed`, the days among them that are not marked yet, with the
# user's days before and after.
_PLACED: Final = """
    near AS MATERIALIZED (
        SELECT s.scope, s.user_id, s.day, known.day_before, known.day_after
        FROM   source s
        -- One reading of the index for each, of the days whose windows its own can touch.
        CROSS  JOIN LATERAL (SELECT bool_or(a.day = s.day) AS is_known,
                                    max(a.day) FILTER (WHERE a.day < s.day) AS day_before,
                                    min(a.day) FILTER (WHERE a.day > s.day) AS day_after
                             FROM   active_days a
                             WHERE  a.user_id = s.user_id AND a.scope = s.scope
                             AND    a.day > s.day - 30 AND a.day < s.day + 30) AS known
        WHERE  known.is_known IS NOT true),
    fresh AS (
        SELECT scope, user_id, day FROM near),
    placed AS MATERIALIZED (
        SELECT scope, day,
               greatest(lag(day) OVER (PARTITION BY scope, user_id ORDER BY day), day_before) AS previous,
               day_after AS following
        FROM   near)
"""
# A probe of the index takes about as long as reading this many of its entries side by side.
_ENTRIES_FOR_PROBE: Final = "400"
# The same for a page, where all days are of one scope, `scoped`: the days of the users are looked up one by one or,
# where an hour has many users, the days of all are read. `marked_days` says how many users were counted on which day.
# Days further away than thirty days change no window.
_PLACED_OF_SCOPE: Final = f"""
    many AS MATERIALIZED (
        SELECT count(DISTINCT s.user_id) * {_ENTRIES_FOR_PROBE}
                   > (SELECT coalesce(sum(m.users), 0) FROM marked_days m
                      WHERE  m.day >= (SELECT min(day) - 30 FROM source)) AS are_many,
               min(s.day) - 30 AS first_day, max(s.day) + 30 AS last_day
        FROM   source s),
    known_days AS MATERIALIZED (
        SELECT a.user_id, a.day
        FROM   (SELECT DISTINCT user_id FROM source WHERE NOT (SELECT are_many FROM many)) AS s
        CROSS  JOIN LATERAL (SELECT user_id, day
                             FROM   active_days
                             WHERE  user_id = s.user_id AND scope = (SELECT scope FROM scoped)
                             OFFSET 0) AS a
        UNION ALL
        SELECT a.user_id, a.day
        FROM   many
        CROSS  JOIN LATERAL generate_series(first_day::timestamp, last_day, '1 day') AS days (day)
        CROSS  JOIN LATERAL (SELECT user_id, day
                             FROM   active_days
                             WHERE  day = days.day::date AND scope = (SELECT scope FROM scoped)
                             OFFSET 0) AS a
        -- No join, for which the planner had to know how many there are: the users are looked up in a table in memory.
        WHERE  are_many AND (a.user_id IN (SELECT user_id FROM source)) IS TRUE),
    placed AS MATERIALIZED (
        SELECT (SELECT scope FROM scoped) AS scope, day, previous, following
        FROM   (SELECT day, is_known, lag(day) OVER (PARTITION BY user_id ORDER BY day) AS previous,
                       min(day) FILTER (WHERE is_known) OVER (
                           PARTITION BY user_id ORDER BY day
                           ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS following
                FROM   (SELECT   user_id, day, bool_or(is_known) AS is_known
                        FROM     (SELECT user_id, day, false AS is_known FROM source
                                  UNION ALL
                                  SELECT user_id, day, true FROM known_days) AS either
                        GROUP BY user_id, day) AS merged) AS ordered
        WHERE  NOT is_known)
"""
# From there to `grown`, what the changes of each day grow by.
_GROWN: Final = """
    joined AS (
        SELECT p.scope, w.days, greatest(p.day, p.previous + w.days) AS first_day,
               least(p.day + w.days, p.following) AS end_day
        FROM   placed p
        CROSS  JOIN (VALUES (7), (30)) AS w (days)),
    changed AS (
        SELECT   scope, day, count(*) AS users, 0 AS week_change, 0 AS month_change
        FROM     placed
        GROUP BY scope, day
        UNION ALL
        SELECT   j.scope, c.day, 0, coalesce(sum(c.change) FILTER (WHERE j.days = 7), 0),
                 coalesce(sum(c.change) FILTER (WHERE j.days = 30), 0)
        FROM     joined j
        CROSS    JOIN LATERAL (VALUES (j.first_day, 1), (j.end_day, -1)) AS c (day, change)
        WHERE    j.first_day < j.end_day
        GROUP BY j.scope, c.day),
    grown AS MATERIALIZED (
        SELECT   scope, day, sum(users)::bigint AS users, sum(week_change)::bigint AS week_change,
                 sum(month_change)::bigint AS month_change
        FROM     changed
        GROUP BY scope, day)
"""
_ADDED: Final = """
    SET users = c.users + excluded.users, week_change = c.week_change + excluded.week_change,
        month_change = c.month_change + excluded.month_change
"""
BATCH: Final = f"""
    SELECT   id, organization_id, user_id, coalesce(service_id, {ZERO}) AS service_id, provider, success,
             {REASON} AS reason, {DAY} AS day
    FROM     login_events
    WHERE    id > %(after)s AND id < %(before)s
    ORDER BY id
    LIMIT    %(limit)s
"""
_BATCH_COLUMNS: Final = ("organization_id", "user_id", "service_id", "provider", "success", "reason", "day")
# Waits for organizations and accounts that are being deleted, and then leaves them out.
COUNT_BATCH: Final = f"""
    WITH batch AS MATERIALIZED (
        SELECT organization_id, user_id, service_id, provider, success, reason, day
        FROM   unnest(%(organization_id)s::uuid[], %(user_id)s::uuid[], %(service_id)s::uuid[], %(provider)s::text[],
                      %(success)s::boolean[], %(reason)s::text[], %(day)s::date[])
                   AS batch (organization_id, user_id, service_id, provider, success, reason, day)),
    present AS MATERIALIZED (
        SELECT   id
        FROM     organizations
        WHERE    id IN (SELECT organization_id FROM batch WHERE organization_id <> user_id)
        ORDER BY id
        FOR KEY SHARE),
    known AS MATERIALIZED (
        SELECT   id
        FROM     users
        WHERE    id IN (SELECT user_id FROM batch WHERE success)
        ORDER BY id
        FOR KEY SHARE),
    counted AS MATERIALIZED (
        SELECT   organization_id, day, reason, provider, service_id, count(*) AS sign_ins
        FROM     batch
        GROUP BY organization_id, day, reason, provider, service_id),
    of_organizations AS (
        INSERT INTO sign_in_counts AS c (organization_id, day, reason, provider, service_id, sign_ins)
        SELECT b.organization_id, b.day, b.reason, b.provider, b.service_id, b.sign_ins
        FROM   counted b
        JOIN   present p ON p.id = b.organization_id
        ON CONFLICT (organization_id, day, reason, provider, service_id)
        DO UPDATE SET sign_ins = c.sign_ins + excluded.sign_ins),
    of_platform AS (
        INSERT INTO platform_sign_in_counts AS c (day, reason, provider, sign_ins)
        SELECT   day, reason, provider, sum(sign_ins)
        FROM     counted
        GROUP BY day, reason, provider
        ON CONFLICT (day, reason, provider) DO UPDATE SET sign_ins = c.sign_ins + excluded.sign_ins),
    source AS MATERIALIZED (
        SELECT DISTINCT s.scope, b.user_id, b.day
        FROM   batch b
        JOIN   known k ON k.id = b.user_id
        LEFT   JOIN present p ON p.id = b.organization_id
        CROSS  JOIN LATERAL (VALUES (p.id), ({ZERO})) AS s (scope)
        WHERE  b.success AND s.scope IS NOT NULL),
    {_PLACED},
    {_GROWN},
    marked AS (
        INSERT INTO active_days (user_id, scope, day) SELECT user_id, scope, day FROM fresh),
    active_of_organizations AS (
        INSERT INTO active_user_changes AS c (organization_id, day, users, week_change, month_change)
        SELECT scope, day, users, week_change, month_change FROM grown WHERE scope <> {ZERO}
        ON CONFLICT (organization_id, day) DO UPDATE {_ADDED}),
    active_of_platform AS (
        INSERT INTO platform_active_user_changes AS c (day, users, week_change, month_change)
        SELECT day, users, week_change, month_change FROM grown WHERE scope = {ZERO}
        ON CONFLICT (day) DO UPDATE {_ADDED})
    INSERT INTO sign_in_counting AS s (counted_through)
    VALUES (%(counted_through)s)
    ON CONFLICT (is_the_only_row)
    DO UPDATE SET counted_through = greatest(s.counted_through, excluded.counted_through)
"""
FIRST_UNCOUNTED: Final = f"""
    SELECT   id
    FROM     login_events
    WHERE    id > {_COUNTED} AND id < %s
    ORDER BY id
    LIMIT    1
"""
FORGET_DAYS: Final = """
    WITH forgotten AS (
        DELETE FROM active_days
        WHERE  ctid = ANY (ARRAY(SELECT ctid FROM active_days WHERE day < %s ORDER BY day LIMIT %s))
        RETURNING 1)
    SELECT count(*) FROM forgotten
"""
# An index of an organization begins with whether a sign-in succeeded: each outcome is a range of it.
_NEWER_OF_ORGANIZATION: Final = f"""
    FROM  login_events e
    WHERE e.organization_id = %(organization_id)s AND e.success = ANY (ARRAY[true, false])
    AND   e.created_at >= %(newer_since)s AND e.id >= %(newer_id)s::uuid AND e.id > {_COUNTED}
"""
# The position is above the other id, from which the planner sees how little is read.
NEWER_OF_PLATFORM: Final = f"FROM login_events e WHERE e.id > %(newer_id)s::uuid AND e.id > {_COUNTED}"
_DAYS: Final = """
    (%(start)s::date IS NULL OR day >= %(start)s) AND (%(end)s::date IS NULL OR day <= %(end)s)
"""
# Planned with its days each time: a plan for any days reads all years.
_OF_ORGANIZATION: Final = f"""
    counted AS (
        SELECT day, reason, provider, service_id, sign_ins
        FROM   sign_in_counts
        WHERE  organization_id = %(organization_id)s AND {_DAYS}
        UNION ALL
        SELECT day, reason, provider, service_id, 1
        FROM   (SELECT {DAY} AS day, {REASON} AS reason, provider, coalesce(service_id, {ZERO}) AS service_id
                {_NEWER_OF_ORGANIZATION}) AS newer
        WHERE  {_DAYS})
"""
_OF_PLATFORM: Final = f"""
    counted AS (
        SELECT day, reason, provider, {ZERO} AS service_id, sign_ins
        FROM   platform_sign_in_counts
        WHERE  {_DAYS}
        UNION ALL
        SELECT day, reason, provider, {ZERO}, 1
        FROM   (SELECT {DAY} AS day, {REASON} AS reason, provider {NEWER_OF_PLATFORM}) AS newer
        WHERE  {_DAYS})
"""
_OUTCOMES: Final = """
    coalesce(sum(sign_ins) FILTER (WHERE reason = ''), 0)::bigint AS succeeded,
    coalesce(sum(sign_ins) FILTER (WHERE reason <> ''), 0)::bigint AS refused
"""
_FIGURES: Final = f"""
    , grouped AS (
        SELECT   day, reason, provider, service_id, {_OUTCOMES}
        FROM     counted
        GROUP BY GROUPING SETS ((day), (reason), (provider), (service_id)))
    SELECT   g.day, g.reason, g.provider, g.service_id, s.name, g.succeeded, g.refused
    FROM     grouped g
    LEFT     JOIN services s ON s.id = g.service_id AND s.organization_id = %(organization_id)s
    ORDER BY g.day, g.succeeded + g.refused DESC, g.reason, g.provider, g.service_id
"""
FIGURES_OF_ORGANIZATION: Final = f"WITH {_OF_ORGANIZATION} {_FIGURES}"
FIGURES_OF_PLATFORM: Final = f"WITH {_OF_PLATFORM} {_FIGURES}"
_BY_DAY: Final = f"""
    SELECT   day, {_OUTCOMES}
    FROM     counted
    WHERE    (%(succeeded)s::boolean IS NULL OR (reason = '') = %(succeeded)s)
    AND      (%(reason)s::text IS NULL OR reason = %(reason)s)
    AND      (%(provider)s::text IS NULL OR provider = %(provider)s)
    AND      (%(service_id)s::uuid IS NULL OR service_id = %(service_id)s)
    GROUP BY day
    ORDER BY day DESC
"""
BY_DAY_OF_ORGANIZATION: Final = f"WITH {_OF_ORGANIZATION} {_BY_DAY}"
BY_DAY_OF_PLATFORM: Final = f"WITH {_OF_PLATFORM} {_BY_DAY}"
_WINDOWS: Final = """
    summed AS (
        SELECT   day, sum(users) AS users, sum(sum(week_change)) OVER (ORDER BY day) AS week,
                 sum(sum(month_change)) OVER (ORDER BY day) AS month
        FROM     known
        GROUP BY day)
    SELECT   day, users::bigint, week::bigint, month::bigint
    FROM     summed
    WHERE    day BETWEEN %(start)s AND %(end)s
    ORDER BY day
"""
_EVERY_DAY: Final = (
    "SELECT day::date, 0, 0, 0 FROM generate_series(%(start)s::timestamp, %(end)s, '1 day') AS days (day)"
)


def _active(scope: LiteralString, marked: LiteralString, newer: LiteralString) -> LiteralString:
    """Return the statement of the active users of a scope: of the marked days, and of what is not counted yet."""
    return f"""
        WITH scoped AS (SELECT {scope} AS scope),
        marked_days AS (
            SELECT day, users, week_change, month_change FROM {marked} AND day <= %(end)s),
        source AS MATERIALIZED (
            SELECT DISTINCT user_id, {DAY} AS day {newer} AND e.success),
        {_PLACED_OF_SCOPE},
        {_GROWN},
        known AS (
            SELECT * FROM marked_days
            UNION ALL
            SELECT day, users, week_change, month_change FROM grown
            UNION ALL {_EVERY_DAY}),
        {_WINDOWS}
    """


ACTIVE_OF_ORGANIZATION: Final = _active(
    "%(organization_id)s::uuid",
    "active_user_changes WHERE organization_id = %(organization_id)s",
    _NEWER_OF_ORGANIZATION,
)
ACTIVE_OF_PLATFORM: Final = _active(ZERO, "platform_active_user_changes WHERE true", NEWER_OF_PLATFORM)
FIRST_OF_ORGANIZATION: Final = """
    SELECT   created_at
    FROM     login_events
    WHERE    organization_id = %(organization_id)s AND id >= %(kept_id)s AND id < %(end_id)s
    ORDER BY id
    LIMIT    1
"""
FIRST_OF_PLATFORM: Final = """
    SELECT created_at FROM login_events WHERE id >= %(kept_id)s AND id < %(end_id)s ORDER BY id LIMIT 1
"""


class PostgresSignInCounts(Aggregate):
    """The port `SignInCounts`."""

    def count_next(self, before: UUID, limit: int) -> int:
        # The row of `sign_in_counting` cannot be locked instead, because at first there is none.
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.sign_in_counting'))"):
            return 0
        after = self.counted_through() or self._until_next(FIRST_ID, before)
        counted = 0
        while after < before:
            end = min(before, id_later(after, COUNTED_AT_ONCE))
            counted += self._count_batch(after, end, limit - counted)
            if counted == limit or end == before:
                break
            after = self._until_next(end, before)
        return counted

    def _count_batch(self, after: UUID, end: UUID, limit: int) -> int:
        # Planned for a month: a plan for any time looks at all months of the log.
        batch = self._rows(BATCH, {"after": after, "before": end, "limit": limit}, prepare=False)
        values = {name: [row[name] for row in batch] for name in _BATCH_COLUMNS}
        counted_through = batch[-1]["id"] if len(batch) == limit else end
        self._connection.execute(COUNT_BATCH, {**values, "counted_through": counted_through}, prepare=False)
        return len(batch)

    def forget_days(self, before: date, limit: int) -> int:
        if not self._transaction.may_delete(AgedRows.ACTIVE_DAYS):
            return 0
        return self._value(FORGET_DAYS, (before, limit))

    def counted_through(self) -> UUID | None:
        return self._value_or_none("SELECT counted_through FROM sign_in_counting")

    def first_uncounted(self, before: UUID) -> UUID | None:
        return self._value_or_none(FIRST_UNCOUNTED, (before,))

    def figures(self, organization_id: UUID | None, period: Period, newer_since: datetime | None) -> SignInFigures:
        rows = self._rows(
            FIGURES_OF_PLATFORM if organization_id is None else FIGURES_OF_ORGANIZATION,
            counted_values(organization_id, period.start, period.end, newer_since),
            prepare=False,
        )

        return SignInFigures(
            days=_made(SignInsOfDay, rows, "day", "succeeded", "refused"),
            reasons=[one for one in _made(RefusalsOfReason, rows, "reason", "refused") if one.reason],
            methods=_made(SignInsByMethod, rows, "provider", "succeeded", "refused"),
            services=_made(SignInsToService, rows, "service_id", "name", "succeeded", "refused"),
        )

    def active_users(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None
    ) -> Sequence[ActiveUsers]:
        return self._all(
            ActiveUsers,
            ACTIVE_OF_PLATFORM if organization_id is None else ACTIVE_OF_ORGANIZATION,
            counted_values(organization_id, period.start, period.end, newer_since),
            prepare=False,
        )

    def by_day(
        self, organization_id: UUID | None, asked: SignInFilter, newer_since: datetime | None
    ) -> Sequence[SignInsOfDay]:
        return self._all(
            SignInsOfDay,
            BY_DAY_OF_PLATFORM if organization_id is None else BY_DAY_OF_ORGANIZATION,
            counted_values(organization_id, asked.since, asked.until, newer_since) | values(asked),
            prepare=False,
        )

    def first_at(self, organization_id: UUID | None) -> datetime | None:
        now = self._transaction.now
        return self._value_or_none(
            FIRST_OF_PLATFORM if organization_id is None else FIRST_OF_ORGANIZATION,
            {"organization_id": organization_id, "kept_id": first_kept_id(now), "end_id": end_id_until(now)},
        )

    def _until_next(self, since: UUID, before: UUID) -> UUID:
        """Return the id directly before the first sign-in of a range; where there is none, before its end."""
        first = self._value_or_none(
            "SELECT id FROM login_events WHERE id >= %(since)s AND id < %(before)s ORDER BY id LIMIT 1",
            {"since": since, "before": before},
        )
        return UUID(int=(first or before).int - 1)


def counted_values(
    organization_id: UUID | None, start: date | None, end: date | None, newer_since: datetime | None
) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "start": start,
        "end": end,
        "newer_since": newer_since,
        "newer_id": first_id_at(newer_since) if newer_since is not None else None,
    }


def _made(make: Callable[..., Row], rows: Sequence[dict[str, Any]], key: str, *others: str) -> list[Row]:
    """Return the rows that are grouped by a column."""
    return [make(**{name: row[name] for name in (key, *others)}) for row in rows if row[key] is not None]
