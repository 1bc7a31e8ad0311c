"""Login events in the table `login_events`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.ids import end_id_until, first_id_since
from core.sign_in.login_events import LoginEvent
from core.sign_in.reasons import FAILED_ATTEMPTS
from core.sign_in.risk import Habits

if TYPE_CHECKING:
    from core.deferred import Deferred

_OF_PLACE: Final = ("user_id", "through_organization_id")
_INTO: Final = f"""
    INSERT INTO login_events (user_id, organization_id, service_id, through_organization_id,
                              {columns(LoginEvent, without=_OF_PLACE)})
"""
_INSTEAD: Final = f"""
    ON CONFLICT (id) DO UPDATE
    SET    (organization_id, service_id, through_organization_id, {columns(LoginEvent, without=_OF_PLACE)})
         = (EXCLUDED.organization_id, EXCLUDED.service_id, EXCLUDED.through_organization_id,
            {columns(LoginEvent, table="excluded", without=_OF_PLACE)})
    WHERE  login_events.user_id = EXCLUDED.user_id AND NOT login_events.success
"""
ADD: Final = f"""
    {_INTO}
    SELECT u.id, coalesce(%(organization_id)s::uuid, u.id), %(service_id)s,
           CASE WHEN %(organization_id)s::uuid IS NULL THEN %(through_organization_id)s::uuid END,
           {placeholders(LoginEvent, without=_OF_PLACE)}
    FROM   users u
    LEFT   JOIN LATERAL (SELECT id FROM organizations WHERE id = %(organization_id)s::uuid FOR KEY SHARE) AS o ON true
    WHERE  u.id = %(user_id)s AND (%(organization_id)s::uuid IS NULL OR o.id IS NOT NULL)
    {_INSTEAD}
"""
_IS_AFFILIATED: Final = """
    (NOT %(affiliated_only)s
     OR EXISTS (SELECT FROM memberships m WHERE m.organization_id = o.id AND m.user_id = u.id)
     OR EXISTS (SELECT FROM service_users l WHERE l.organization_id = o.id AND l.user_id = u.id))
"""
# The organization that the attempt names, or else the one through which it was made; never both. It is not deleted
# before the transaction ends.
ADD_UNFINISHED: Final = f"""
    {_INTO}
    SELECT u.id, coalesce(named.id, u.id), s.id, through.id, {placeholders(LoginEvent, without=_OF_PLACE)}
    FROM   users u
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  o.slug = %(organization_slug)s AND {_IS_AFFILIATED}
                         FOR    KEY SHARE) AS named ON true
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  %(organization_slug)s::text IS NULL
                         AND    o.id = %(through_organization_id)s AND {_IS_AFFILIATED}) AS through ON true
    LEFT   JOIN services s ON s.organization_id = named.id AND s.slug = %(service_slug)s
    WHERE  u.id = %(user_id)s
    AND    (SELECT count(*)
            FROM   (SELECT
                    FROM   login_events
                    WHERE  user_id = %(user_id)s AND NOT success AND created_at > %(since)s AND id >= %(since_id)s
                    AND    reason = %(reason)s AND organization_id = coalesce(named.id, u.id)
                    LIMIT  %(rows_max)s) AS recent) < %(rows_max)s
    {_INSTEAD}
"""


class PostgresLoginEvents(Aggregate):
    """The port `LoginEvents`."""

    def add(self, event: LoginEvent, *, organization_id: UUID | None, service_id: UUID | None) -> None:
        self._connection.execute_later(
            ADD, values(event) | {"organization_id": organization_id, "service_id": service_id}
        )

    def add_unfinished(
        self,
        event: LoginEvent,
        *,
        organization_slug: str | None,
        service_slug: str | None,
        affiliated_only: bool,
        since: datetime,
        rows_max: int,
    ) -> None:
        self._connection.execute_later(
            ADD_UNFINISHED,
            values(event)
            | {
                "organization_slug": organization_slug,
                "service_slug": service_slug,
                "affiliated_only": affiliated_only,
                "since": since,
                "since_id": first_id_since(since),
                "rows_max": rows_max,
            },
        )

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        habits = self._defer_all(
            Habits,
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
                            AND      id >= %(failures_since_id)s AND id < %(end_id)s
                            AND      (reason IS NULL OR reason = ANY (%(failed_attempts)s))
                            ORDER BY id DESC
                            LIMIT    %(failures_max)s) AS refused)
                       AS failures
            FROM   (SELECT   created_at, geo_country
                    FROM     login_events
                    WHERE    user_id = %(user_id)s AND success AND created_at > %(since)s
                    AND      id >= %(since_id)s AND id < %(end_id)s
                    ORDER BY id DESC
                    LIMIT    %(sign_ins_max)s) AS newest
            """,
            {
                "user_id": user_id,
                "since": since,
                "since_id": first_id_since(since),
                "failures_since_id": first_id_since(failures_since),
                "end_id": end_id_until(self._transaction.now),
                "sign_ins_max": sign_ins_max,
                "failures_since": failures_since,
                "failures_max": failures_max,
                "failed_attempts": sorted(FAILED_ATTEMPTS),
            },
        )
        # A query of aggregates returns exactly one row.
        return lambda: habits()[0]
