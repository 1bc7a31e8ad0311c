"""Sign-ins and active users by day, as ports/audit/sign_in_counts.py says.

One statement counts a batch: it adds the batch to the counts, marks who was active on which day, and moves the position
on, all of it or nothing. A user's new day adds them to the windows that no other of their days is in, which are those
after the day before it and before the day after it; so a window is stored by what changes from day to day.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from adapters.postgres.sign_in.sign_ins import AFFILIATION
from adapters.postgres.transaction import Aggregate
from core.audit.search import first_id_at
from core.audit.sign_in_counts import (
    CLOCKS_DIFFER_MAX,
    SETTLES_AFTER,
    ActiveUsers,
    RefusalsOfReason,
    SignInFigures,
    SignInsByMethod,
    SignInsOfDay,
    SignInsToService,
)
from core.audit.sign_in_log import ActiveUser, LoggedSignIn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from core.audit.analytics import Period
    from core.audit.sign_in_counts import SignInFilter
    from core.positions import Position

Row = TypeVar("Row")

# In the place of the id of an organization or service where there is none.
_ZERO: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
_DAY: Final = "(created_at AT TIME ZONE 'UTC')::date"
_REASON: Final = "CASE WHEN success THEN '' ELSE coalesce(nullif(reason, ''), 'not_recorded') END"
_COUNTED: Final = f"coalesce((SELECT counted_through FROM sign_in_counting), {_ZERO})"  # noqa: S608 - made of constants alone
# From `source`, the days on which users were active, to `grown`, what the changes of each day grow by.
_GROWN: Final = """
    fresh AS MATERIALIZED (
        SELECT s.scope, s.user_id, s.day
        FROM   source s
        WHERE  NOT EXISTS (SELECT FROM active_days a
                           WHERE  a.user_id = s.user_id AND a.scope = s.scope AND a.day = s.day)),
    placed AS MATERIALIZED (
        SELECT f.scope, f.day,
               greatest(lag(f.day) OVER (PARTITION BY f.scope, f.user_id ORDER BY f.day),
                        (SELECT max(a.day) FROM active_days a
                         WHERE  a.user_id = f.user_id AND a.scope = f.scope AND a.day < f.day)) AS previous,
               (SELECT min(a.day) FROM active_days a
                WHERE  a.user_id = f.user_id AND a.scope = f.scope AND a.day > f.day) AS following
        FROM   fresh f),
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
# Waits for organizations and accounts that are being deleted, and then leaves them out.
COUNT_NEXT: Final = f"""
    WITH batch AS MATERIALIZED (
        SELECT   id, organization_id, user_id, coalesce(service_id, {_ZERO}) AS service_id, provider, success,
                 {_REASON} AS reason, {_DAY} AS day
        FROM     login_events
        WHERE    id > {_COUNTED} AND id < %(before)s
        ORDER BY id
        LIMIT    %(limit)s),
    present AS MATERIALIZED (
        SELECT   id
        FROM     organizations
        WHERE    id IN (SELECT organization_id FROM batch)
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
        CROSS  JOIN LATERAL (VALUES (p.id), ({_ZERO})) AS s (scope)
        WHERE  b.success AND s.scope IS NOT NULL),
    {_GROWN},
    marked AS (
        INSERT INTO active_days (user_id, scope, day) SELECT user_id, scope, day FROM fresh),
    active_of_organizations AS (
        INSERT INTO active_user_changes AS c (organization_id, day, users, week_change, month_change)
        SELECT scope, day, users, week_change, month_change FROM grown WHERE scope <> {_ZERO}
        ON CONFLICT (organization_id, day) DO UPDATE {_ADDED}),
    active_of_platform AS (
        INSERT INTO platform_active_user_changes AS c (day, users, week_change, month_change)
        SELECT day, users, week_change, month_change FROM grown WHERE scope = {_ZERO}
        ON CONFLICT (day) DO UPDATE {_ADDED})
    INSERT INTO sign_in_counting AS s (counted_through)
    SELECT CASE WHEN count(*) < %(limit)s THEN %(before)s::uuid ELSE (array_agg(id ORDER BY id DESC))[1] END
    FROM   batch
    ON CONFLICT (is_the_only_row)
    DO UPDATE SET counted_through = greatest(s.counted_through, excluded.counted_through)
    RETURNING (SELECT count(*) FROM batch)
"""  # noqa: S608 - made of constants alone
FORGET_DAYS: Final = """
    WITH forgotten AS (
        DELETE FROM active_days
        WHERE  ctid = ANY (ARRAY(SELECT ctid FROM active_days WHERE day < %s ORDER BY day LIMIT %s))
        RETURNING 1)
    SELECT count(*) FROM forgotten
"""
# An index of an organization begins with whether a sign-in succeeded: each of both is a range of it.
_NEWER_OF_ORGANIZATION: Final = f"""
    FROM  login_events e
    WHERE e.organization_id = %(organization_id)s AND e.success = ANY (ARRAY[true, false])
    AND   e.created_at >= %(newer_since)s AND e.id > {_COUNTED}
"""
_NEWER_OF_PLATFORM: Final = f"FROM login_events e WHERE %(newer_since)s::timestamptz IS NOT NULL AND e.id > {_COUNTED}"
_DAYS: Final = """
    (%(start)s::date IS NULL OR day >= %(start)s) AND (%(end)s::date IS NULL OR day <= %(end)s)
"""
_OF_ORGANIZATION: Final = f"""
    counted AS MATERIALIZED (
        SELECT day, reason, provider, service_id, sign_ins
        FROM   sign_in_counts
        WHERE  organization_id = %(organization_id)s AND {_DAYS}
        UNION ALL
        SELECT day, reason, provider, service_id, 1
        FROM   (SELECT {_DAY} AS day, {_REASON} AS reason, provider, coalesce(service_id, {_ZERO}) AS service_id
                {_NEWER_OF_ORGANIZATION}) AS newer
        WHERE  {_DAYS})
"""  # noqa: S608 - made of constants alone
_OF_PLATFORM: Final = f"""
    counted AS MATERIALIZED (
        SELECT day, reason, provider, {_ZERO} AS service_id, sign_ins
        FROM   platform_sign_in_counts
        WHERE  {_DAYS}
        UNION ALL
        SELECT day, reason, provider, {_ZERO}, 1
        FROM   (SELECT {_DAY} AS day, {_REASON} AS reason, provider {_NEWER_OF_PLATFORM}) AS newer
        WHERE  {_DAYS})
"""  # noqa: S608 - made of constants alone
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
"""  # noqa: S608 - made of constants alone
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
"""  # noqa: S608 - made of constants alone
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
ACTIVE_OF_ORGANIZATION: Final = f"""
    WITH source AS MATERIALIZED (
        SELECT DISTINCT %(organization_id)s::uuid AS scope, user_id, {_DAY} AS day
        {_NEWER_OF_ORGANIZATION} AND e.success),
    {_GROWN},
    known AS (
        SELECT day, users, week_change, month_change
        FROM   active_user_changes
        WHERE  organization_id = %(organization_id)s AND day <= %(end)s
        UNION ALL
        SELECT day, users, week_change, month_change FROM grown
        UNION ALL {_EVERY_DAY}),
    {_WINDOWS}
"""  # noqa: S608 - made of constants alone
ACTIVE_OF_PLATFORM: Final = f"""
    WITH source AS MATERIALIZED (
        SELECT DISTINCT {_ZERO} AS scope, user_id, {_DAY} AS day {_NEWER_OF_PLATFORM} AND e.success),
    {_GROWN},
    known AS (
        SELECT day, users, week_change, month_change FROM platform_active_user_changes WHERE day <= %(end)s
        UNION ALL
        SELECT day, users, week_change, month_change FROM grown
        UNION ALL {_EVERY_DAY}),
    {_WINDOWS}
"""  # noqa: S608 - made of constants alone
# The days are those that the counts name, so that what fits is found without reading other days.
_FITTING: Final = f"""
    AND    e.created_at >= days.day::timestamp AT TIME ZONE 'UTC'
    AND    e.created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC'
    AND    (%(at)s::timestamptz IS NULL OR (e.created_at <= %(at)s AND (e.created_at, e.id) < (%(at)s, %(after)s)))
    AND    (%(reason)s::text IS NULL OR {_REASON} = %(reason)s)
    AND    (%(provider)s::text IS NULL OR e.provider = %(provider)s)
    AND    (%(service_id)s::uuid IS NULL OR coalesce(e.service_id, {_ZERO}) = %(service_id)s)
    AND    (%(address)s::text IS NULL OR e.ip_address = %(address)s)
"""
_COLUMNS: Final = """
    e.id, e.created_at, e.provider, e.success, e.reason, e.organization_id, e.service_id, e.connection_id, e.user_id,
    e.ip_address, e.user_agent, e.request_id
"""
_NEWEST: Final = "ORDER BY created_at DESC, id DESC LIMIT %(limit)s"
_IS_MEMBER: Final = """
    EXISTS (SELECT FROM memberships m WHERE m.organization_id = %(organization_id)s AND m.user_id = e.user_id)
        AS is_member
"""
_AFFILIATION: Final = AFFILIATION.replace("%(user_id)s", "e.user_id")
LISTED_OF_ORGANIZATION: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT e.*
        FROM   unnest(%(days)s::date[]) AS days (day)
        CROSS  JOIN unnest(%(outcomes)s::boolean[]) AS outcomes (success)
        CROSS  JOIN LATERAL (
            SELECT {_COLUMNS}
            FROM   login_events e
            WHERE  e.organization_id = %(organization_id)s AND e.success = outcomes.success {_FITTING}
            {_NEWEST}) AS e
        {_NEWEST})
    SELECT   e.id, e.created_at, e.provider, e.success, e.reason, NULL AS organization_id, NULL AS organization_name,
             e.service_id, s.name AS service_name, c.name AS connection_name, u.id AS user_id, u.email,
             coalesce(u.is_platform_owner, false) AS is_platform_owner, {_IS_MEMBER},
             CASE WHEN u.id IS NOT NULL THEN e.ip_address END AS ip_address,
             CASE WHEN u.id IS NOT NULL THEN e.user_agent END AS user_agent,
             CASE WHEN u.id IS NOT NULL THEN e.request_id END AS request_id
    FROM     page e
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = %(organization_id)s
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id AND c.organization_id = %(organization_id)s
    LEFT     JOIN LATERAL ({_AFFILIATION}) AS affiliated ON true
    LEFT     JOIN users u ON u.id = e.user_id AND affiliated.since <= e.created_at
    ORDER BY e.created_at DESC, e.id DESC
"""  # noqa: S608 - made of constants alone
# The ids are ordered by the time of their making, which is before that of the sign-in by an hour at most.
LISTED_OF_PLATFORM: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT e.*
        FROM   unnest(%(days)s::date[], %(from_ids)s::uuid[], %(to_ids)s::uuid[]) AS days (day, from_id, to_id)
        CROSS  JOIN LATERAL (
            SELECT {_COLUMNS}
            FROM   login_events e
            WHERE  e.id >= days.from_id AND e.id < days.to_id AND e.success = ANY (%(outcomes)s) {_FITTING}
            {_NEWEST}) AS e
        {_NEWEST})
    SELECT   e.id, e.created_at, e.provider, e.success, e.reason, o.id AS organization_id, o.name AS organization_name,
             e.service_id, s.name AS service_name, c.name AS connection_name, e.user_id, u.email,
             u.is_platform_owner, false AS is_member, e.ip_address, e.user_agent, e.request_id
    FROM     page e
    JOIN     users u ON u.id = e.user_id
    LEFT     JOIN organizations o ON o.id = e.organization_id
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = e.organization_id
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id
    ORDER BY e.created_at DESC, e.id DESC
"""  # noqa: S608 - made of constants alone
ACTIVE_IN_ORGANIZATION: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   DISTINCT e.user_id
        FROM     login_events e
        WHERE    e.organization_id = %(organization_id)s AND e.success AND e.user_id > %(after)s
        AND      e.created_at >= %(start)s::timestamp AT TIME ZONE 'UTC'
        AND      e.created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY e.user_id
        LIMIT    %(limit)s)
    SELECT   e.user_id, u.email, coalesce(u.is_platform_owner, false) AS is_platform_owner, {_IS_MEMBER}
    FROM     page e
    LEFT     JOIN LATERAL ({_AFFILIATION}) AS affiliated ON true
    LEFT     JOIN users u ON u.id = e.user_id AND affiliated.since IS NOT NULL
    ORDER BY e.user_id
"""  # noqa: S608 - made of constants alone
ACTIVE_IN_PLATFORM: Final = f"""
    WITH page AS MATERIALIZED (
        (SELECT   DISTINCT user_id
         FROM     active_days
         WHERE    scope = {_ZERO} AND day BETWEEN %(start)s AND %(end)s AND user_id > %(after)s
         ORDER BY user_id
         LIMIT    %(limit)s)
        UNION
        (SELECT   DISTINCT user_id
         {_NEWER_OF_PLATFORM} AND e.success AND {_DAY} BETWEEN %(start)s AND %(end)s AND e.user_id > %(after)s
         ORDER BY user_id
         LIMIT    %(limit)s))
    SELECT   u.id AS user_id, u.email, u.is_platform_owner, false AS is_member
    FROM     page e
    JOIN     users u ON u.id = e.user_id
    ORDER BY u.id
    LIMIT    %(limit)s
"""  # noqa: S608 - made of constants alone
SERVICE_NAMES: Final = "SELECT id, name FROM services WHERE organization_id = %s ORDER BY name, id LIMIT %s"
FIRST_OF_ORGANIZATION: Final = """
    SELECT min(first.created_at)
    FROM   (VALUES (true), (false)) AS outcomes (success)
    CROSS  JOIN LATERAL (SELECT   created_at
                         FROM     login_events
                         WHERE    organization_id = %(organization_id)s AND success = outcomes.success
                         ORDER BY created_at
                         LIMIT    1) AS first
"""
FIRST_OF_PLATFORM: Final = "SELECT created_at FROM login_events ORDER BY id LIMIT 1"


class PostgresSignInCounts(Aggregate):
    """The port `SignInCounts`."""

    def count_next(self, before: UUID, limit: int) -> int:
        # The row of `sign_in_counting` cannot be locked instead, because at first there is none.
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.sign_in_counting'))"):
            return 0
        return self._value(COUNT_NEXT, {"before": before, "limit": limit})

    def forget_days(self, before: date, limit: int) -> int:
        return self._value(FORGET_DAYS, (before, limit))

    def counted_through(self) -> UUID | None:
        return self._value_or_none("SELECT counted_through FROM sign_in_counting")

    def figures(self, organization_id: UUID | None, period: Period, newer_since: datetime | None) -> SignInFigures:
        rows = self._rows(
            FIGURES_OF_PLATFORM if organization_id is None else FIGURES_OF_ORGANIZATION,
            _values(organization_id, period.start, period.end, newer_since),
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
            _values(organization_id, period.start, period.end, newer_since),
        )

    def by_day(
        self, organization_id: UUID | None, asked: SignInFilter, newer_since: datetime | None
    ) -> Sequence[SignInsOfDay]:
        return self._all(
            SignInsOfDay,
            BY_DAY_OF_PLATFORM if organization_id is None else BY_DAY_OF_ORGANIZATION,
            _values(organization_id, asked.since, asked.until, newer_since) | _filter(asked),
        )

    def listed(
        self,
        organization_id: UUID | None,
        asked: SignInFilter,
        *,
        days: Sequence[date],
        after: Position | None,
        limit: int,
    ) -> Sequence[LoggedSignIn]:
        values = _filter(asked) | {
            "organization_id": organization_id,
            "days": list(days),
            "outcomes": [True, False] if asked.succeeded is None else [asked.succeeded],
            "at": after.at if after is not None else None,
            "after": after.id if after is not None else None,
            "limit": limit,
        }
        if organization_id is not None:
            return self._all(LoggedSignIn, LISTED_OF_ORGANIZATION, values)
        ids = [ids_of(day) for day in days]
        values |= {"from_ids": [first for first, _ in ids], "to_ids": [end for _, end in ids]}
        return self._all(LoggedSignIn, LISTED_OF_PLATFORM, values)

    def active_in(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None, *, after: UUID, limit: int
    ) -> Sequence[ActiveUser]:
        return self._all(
            ActiveUser,
            ACTIVE_IN_PLATFORM if organization_id is None else ACTIVE_IN_ORGANIZATION,
            _values(organization_id, period.start, period.end, newer_since) | {"after": after, "limit": limit},
        )

    def service_names(self, organization_id: UUID, limit: int) -> Sequence[tuple[UUID, str]]:
        rows = self._rows(SERVICE_NAMES, (organization_id, limit))
        return [(row["id"], row["name"]) for row in rows]

    def first_at(self, organization_id: UUID | None) -> datetime | None:
        if organization_id is None:
            return self._value_or_none(FIRST_OF_PLATFORM)
        return self._value_or_none(FIRST_OF_ORGANIZATION, {"organization_id": organization_id})


def _values(
    organization_id: UUID | None, start: date | None, end: date | None, newer_since: datetime | None
) -> dict[str, Any]:
    return {"organization_id": organization_id, "start": start, "end": end, "newer_since": newer_since}


def _made(make: Callable[..., Row], rows: Sequence[dict[str, Any]], key: str, *others: str) -> list[Row]:
    """Return the rows that are grouped by a column."""
    return [make(**{name: row[name] for name in (key, *others)}) for row in rows if row[key] is not None]


def ids_of(day: date) -> tuple[UUID, UUID]:
    """Return the range of ids that the sign-ins of a day can have."""
    begin = datetime.combine(day, time(), UTC)
    return first_id_at(begin - SETTLES_AFTER), first_id_at(begin + timedelta(days=1) + CLOCKS_DIFFER_MAX)


def _filter(asked: SignInFilter) -> dict[str, Any]:
    return {
        "succeeded": asked.succeeded,
        "reason": asked.reason,
        "provider": asked.provider,
        "service_id": asked.service_id,
        "address": asked.address,
    }
