"""Counts of sign-ins. One index contains all the columns that the counts need, so the table itself is not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.transaction import Aggregate
from core.audit.analytics import DailyLogins, ProviderLogins, RecentLogin, ServiceLogins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.audit.analytics import Period

# Each day is a range of the index, which takes half the time of computing the day of every sign-in. No day before the
# first sign-in or after the last one is read, and none at all when there are no sign-ins.
BY_DAY: Final = """
    SELECT   days.day::date AS date, counted.count
    FROM     (SELECT   (created_at AT TIME ZONE 'UTC')::date
              FROM     login_events
              WHERE    organization_id = %(organization_id)s AND success
              ORDER BY created_at
              LIMIT    1) AS earliest (day)
    CROSS JOIN (SELECT   (created_at AT TIME ZONE 'UTC')::date
                FROM     login_events
                WHERE    organization_id = %(organization_id)s AND success
                ORDER BY created_at DESC
                LIMIT    1) AS latest (day)
    CROSS JOIN generate_series(
                 greatest(%(start)s::date, earliest.day)::timestamp,
                 least(%(end)s::date, latest.day)::timestamp,
                 interval '1 day') AS days (day)
    CROSS JOIN LATERAL (
                 SELECT count(*) AS count
                 FROM   login_events
                 WHERE  organization_id = %(organization_id)s AND success
                 AND    created_at >= days.day AT TIME ZONE 'UTC'
                 AND    created_at < (days.day + interval '1 day') AT TIME ZONE 'UTC') AS counted
    WHERE    counted.count > 0
    ORDER BY days.day
"""
BY_SERVICE: Final = """
    SELECT   s.id AS service_id, s.name AS service_name, counted.count
    FROM     (SELECT   service_id, count(*) AS count
              FROM     login_events
              WHERE    organization_id = %(organization_id)s AND success
                AND    created_at >= %(start)s::timestamp AT TIME ZONE 'UTC'
                AND    created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC'
              GROUP BY service_id) AS counted
    JOIN     services s ON s.id = counted.service_id AND s.organization_id = %(organization_id)s
    ORDER BY counted.count DESC, s.name, s.id
"""
BY_PROVIDER: Final = """
    SELECT   provider, count(*) AS count
    FROM     login_events
    WHERE    organization_id = %(organization_id)s AND success
      AND    created_at >= %(start)s::timestamp AT TIME ZONE 'UTC'
      AND    created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY provider
    ORDER BY count(*) DESC, provider
"""
RECENT: Final = """
    SELECT   id, user_id, service_id, provider, created_at
    FROM     login_events
    WHERE    organization_id = %(organization_id)s AND success
    ORDER BY created_at DESC, id DESC
    LIMIT    %(limit)s
"""


class PostgresAnalytics(Aggregate):
    """The port `Analytics`."""

    def by_day(self, organization_id: UUID, period: Period) -> Sequence[DailyLogins]:
        return self._all(DailyLogins, BY_DAY, _values(organization_id, period))

    def by_service(self, organization_id: UUID, period: Period) -> Sequence[ServiceLogins]:
        return self._all(ServiceLogins, BY_SERVICE, _values(organization_id, period))

    def by_provider(self, organization_id: UUID, period: Period) -> Sequence[ProviderLogins]:
        return self._all(ProviderLogins, BY_PROVIDER, _values(organization_id, period))

    def recent(self, organization_id: UUID, limit: int) -> Sequence[RecentLogin]:
        return self._all(RecentLogin, RECENT, {"organization_id": organization_id, "limit": limit})


def _values(organization_id: UUID, period: Period) -> dict[str, object]:
    return {"organization_id": organization_id, "start": period.start, "end": period.end}
