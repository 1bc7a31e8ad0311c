"""Login events in the table `login_events`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.sign_in.risk import Habits

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.deferred import Deferred
    from core.sign_in.login_events import LoginEvent


class PostgresLoginEvents(Aggregate):
    """The port `LoginEvents`."""

    def add(self, event: LoginEvent) -> None:
        self._connection.execute_later(
            """
            INSERT INTO login_events (id, user_id, organization_id, service_id, device_id, provider, success,
                                      ip_address, user_agent, risk_score, risk_factors, geo_country, geo_city,
                                      created_at)
            SELECT %s, id, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s
            FROM   users
            WHERE  id = %s
            """,
            (
                event.id,
                event.organization_id,
                event.service_id,
                event.device_id,
                event.provider,
                event.success,
                event.ip_address,
                event.user_agent,
                event.risk_score,
                event.risk_factors,
                event.geo_country,
                event.geo_city,
                event.created_at,
                event.user_id,
            ),
        )

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        habits = self._connection.cursor(row_factory=kwargs_row(Habits)).defer(
            """
            SELECT count(*) AS sign_ins,
                   coalesce(array_agg(DISTINCT geo_country) FILTER (WHERE geo_country IS NOT NULL), '{}')
                       AS countries,
                   coalesce(array_agg(DISTINCT extract(hour FROM created_at AT TIME ZONE 'UTC')::integer), '{}')
                       AS hours,
                   (SELECT count(*)
                    FROM   (SELECT
                            FROM     login_events
                            WHERE    user_id = %(user_id)s AND NOT success AND created_at > %(failures_since)s
                            ORDER BY created_at DESC
                            LIMIT    %(failures_max)s) AS refused)
                       AS failures
            FROM   (SELECT   created_at, geo_country
                    FROM     login_events
                    WHERE    user_id = %(user_id)s AND success AND created_at > %(since)s
                    ORDER BY created_at DESC
                    LIMIT    %(sign_ins_max)s) AS newest
            """,
            {
                "user_id": user_id,
                "since": since,
                "sign_ins_max": sign_ins_max,
                "failures_since": failures_since,
                "failures_max": failures_max,
            },
        )
        # A query of aggregates returns exactly one row.
        return lambda: habits.fetchall()[0]
