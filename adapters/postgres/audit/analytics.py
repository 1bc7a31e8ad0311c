"""Counts of sign-ins. One index contains all the columns that the counts need, so the table itself is not read.

Days whose log is no longer kept, or soon will not be, are read from the counts made in advance (`sign_in_counts.py`),
so that no number changes when a month of the log is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.log_times import first_kept_id, kept_values
from adapters.postgres.transaction import Aggregate
from core.audit.analytics import DailyLogins, Period, ProviderLogins, RecentLogin, ServiceLogins
from core.ids import end_id_until, ids_of_days
from core.limits import SIGN_INS_KEPT_FOR

_COUNTED: Final = """
    FROM   sign_in_counts
    WHERE  organization_id = %(organization_id)s AND reason = ''
    AND    day >= %(start)s::date AND day <= %(end)s::date AND day < %(log_from)s::date
"""
_LOGGED: Final = """
    FROM   login_events
    WHERE  organization_id = %(organization_id)s AND success AND id >= %(from_id)s AND id < %(end_id)s
    AND    created_at >= greatest(%(start)s::date, %(log_from)s::date)::timestamp AT TIME ZONE 'UTC'
    AND    created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC'
"""
_ANY: Final = """
    SELECT   (created_at AT TIME ZONE 'UTC')::date
    FROM     login_events
    WHERE    organization_id = %(organization_id)s AND success AND id >= %(kept_id)s AND id < %(now_id)s
"""
# Each day is a range of the index, which takes half the time of computing the day of every sign-in. No day before the
# first sign-in or after the last one is read, and none at all when there are no sign-ins. Two days more are read at
# the ends, because the order of ids is not quite the order of times.
BY_DAY: Final = f"""
    SELECT   day AS date, sum(sign_ins)::bigint AS count {_COUNTED} GROUP BY day
    UNION    ALL
    SELECT   days.day, counted.count
    FROM     ({_ANY} ORDER BY id LIMIT 1) AS earliest (day)
    CROSS JOIN ({_ANY} ORDER BY id DESC LIMIT 1) AS latest (day)
    -- The planner always expects a thousand rows of a series of days. The limit and the condition exclude none of them;
    -- they say to the planner that there are fewer.
    CROSS JOIN LATERAL (
                 SELECT day::date AS day
                 FROM   generate_series(
                            greatest(%(start)s::date, %(log_from)s::date, earliest.day - 1)::timestamp,
                            least(%(end)s::date, latest.day + 1)::timestamp,
                            interval '1 day') AS day
                 LIMIT  (%(end)s::date - %(start)s::date + 1)) AS days
    CROSS JOIN LATERAL (
                 SELECT count(*) AS count
                 FROM   login_events
                 WHERE  organization_id = %(organization_id)s AND success
                 AND    created_at >= days.day::timestamp AT TIME ZONE 'UTC'
                 AND    created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC'
                 AND    id >= first_id_at((days.day::timestamp - interval '1 hour') AT TIME ZONE 'UTC')
                 AND    id < first_id_at((days.day::timestamp + interval '1 day 1 minute') AT TIME ZONE 'UTC')
             ) AS counted
    WHERE    counted.count > 0 AND days.day >= earliest.day - 1 AND days.day <= latest.day + 1
    ORDER BY date
"""
BY_SERVICE: Final = f"""
    SELECT   s.id AS service_id, s.name AS service_name, counted.count
    FROM     (SELECT   service_id, sum(count)::bigint AS count
              FROM     (SELECT service_id, sign_ins AS count {_COUNTED}
                        UNION  ALL
                        (SELECT service_id, count(*) {_LOGGED} GROUP BY service_id)) AS parts
              GROUP BY service_id) AS counted
    JOIN     services s ON s.id = counted.service_id AND s.organization_id = %(organization_id)s
    ORDER BY counted.count DESC, s.name, s.id
"""
BY_PROVIDER: Final = f"""
    SELECT   provider, sum(count)::bigint AS count
    FROM     (SELECT provider, sign_ins AS count {_COUNTED}
              UNION  ALL
              (SELECT provider, count(*) {_LOGGED} GROUP BY provider)) AS parts
    GROUP BY provider
    ORDER BY sum(count) DESC, provider
"""
RECENT: Final = """
    SELECT   id, user_id, service_id, provider, created_at
    FROM     login_events
    WHERE    organization_id = %(organization_id)s AND success AND id >= %(kept_id)s AND id < %(now_id)s
    ORDER BY id DESC
    LIMIT    %(limit)s
"""
# No sign-in of a later day has an id before the kept range.
_DAYS_APART: Final = timedelta(days=2)


class PostgresAnalytics(Aggregate):
    """The port `Analytics`."""

    def by_day(self, organization_id: UUID, period: Period) -> Sequence[DailyLogins]:
        return self._all(DailyLogins, BY_DAY, self._values_of(organization_id, period))

    def by_service(self, organization_id: UUID, period: Period) -> Sequence[ServiceLogins]:
        return self._all(ServiceLogins, BY_SERVICE, self._values_of(organization_id, period))

    def by_provider(self, organization_id: UUID, period: Period) -> Sequence[ProviderLogins]:
        return self._all(ProviderLogins, BY_PROVIDER, self._values_of(organization_id, period))

    def recent(self, organization_id: UUID, limit: int) -> Sequence[RecentLogin]:
        return self._all(
            RecentLogin,
            RECENT,
            kept_values(self._transaction.now) | {"organization_id": organization_id, "limit": limit},
        )

    def _values_of(self, organization_id: UUID, period: Period) -> dict[str, Any]:
        now = self._transaction.now
        first, last = ids_of_days(period.start, period.end)
        return kept_values(now) | {
            "organization_id": organization_id,
            "start": period.start,
            "end": period.end,
            "log_from": (now - SIGN_INS_KEPT_FOR + _DAYS_APART).date(),
            "from_id": max(first, first_kept_id(now)),
            "end_id": min(last, end_id_until(now)),
        }
