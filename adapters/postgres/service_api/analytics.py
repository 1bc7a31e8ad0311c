"""Figures about the users of a service, in one statement."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import end_id_until, first_id_since
from core.service_api.analytics import PlanCount, ProviderCount, ServiceAnalytics
from core.services.api_keys import ServiceCaller

FIGURES: Final = """
    WITH   logins AS MATERIALIZED (
               SELECT   provider, user_id, count(*) AS logins
               FROM     login_events
               WHERE    service_id = %(service_id)s AND organization_id = %(organization_id)s
                 AND    success AND created_at >= %(since)s AND id >= %(since_id)s AND id < %(end_id)s
               GROUP BY provider, user_id),
           by_provider AS (
               SELECT provider, sum(logins)::bigint AS count FROM logins GROUP BY provider),
           by_plan AS (
               SELECT   p.id AS plan_id, p.name AS plan_name, p.created_at,
                        (SELECT count(*)
                         FROM   subscriptions
                         WHERE  plan_id = p.id AND status IN ('active', 'past_due')) AS count
               FROM     plans p
               WHERE    p.organization_id = %(organization_id)s AND p.service_id = %(service_id)s)
    SELECT coalesce((SELECT users
                     FROM   service_user_milestones
                     WHERE  service_id = %(service_id)s
                       AND  user_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'), 0)
           + (SELECT coalesce(sum(change), 0)
              FROM   service_user_changes
              WHERE  service_id = %(service_id)s)                                AS total_users,
           (SELECT count(DISTINCT user_id) FROM logins)                         AS active_users_30d,
           (SELECT count(*)
            FROM   service_users
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  first_login_at >= %(since)s)                                 AS new_users_30d,
           (SELECT coalesce(sum(count), 0)::bigint FROM by_provider)            AS total_logins_30d,
           (SELECT coalesce(sum(count), 0)::bigint FROM by_plan)                AS active_subscriptions,
           (SELECT coalesce(jsonb_agg(jsonb_build_object('plan_id', plan_id, 'plan_name', plan_name, 'count', count)
                                      ORDER BY created_at, plan_id), '[]')
            FROM   by_plan)                                                     AS subscriptions_by_plan,
           (SELECT coalesce(jsonb_agg(jsonb_build_object('provider', provider, 'count', count)
                                      ORDER BY count DESC, provider), '[]')
            FROM   by_provider)                                                 AS logins_by_provider
"""


class PostgresServiceFigures(Aggregate):
    """The port `ServiceFigures`."""

    def read(self, caller: ServiceCaller, *, since: datetime) -> ServiceAnalytics:
        [row] = self._rows(
            FIGURES,
            {
                "organization_id": caller.organization_id,
                "service_id": caller.service_id,
                "since": since,
                "since_id": first_id_since(since),
                "end_id": end_id_until(self._transaction.now),
            },
        )
        return ServiceAnalytics(
            total_users=int(row["total_users"]),
            active_users_30d=row["active_users_30d"],
            new_users_30d=row["new_users_30d"],
            total_logins_30d=row["total_logins_30d"],
            active_subscriptions=row["active_subscriptions"],
            subscriptions_by_plan=[
                PlanCount(plan_id=UUID(plan["plan_id"]), plan_name=plan["plan_name"], count=plan["count"])
                for plan in row["subscriptions_by_plan"]
            ],
            logins_by_provider=[ProviderCount(**provider) for provider in row["logins_by_provider"]],
        )
