"""Login events in the table `login_events`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.ids import end_id_until, first_id_since
from core.sign_in.login_events import LoginEvent
from core.sign_in.reasons import FAILED_ATTEMPTS
from core.sign_in.risk import Habits

if TYPE_CHECKING:
    from core.deferred import Deferred

_OF_PLACE: Final = ("user_id", "through_organization_id", "customer_id")
# What goes on after it has waited, such as by a second factor, does not say again what of a mail was used.
_KEPT: Final = (*_OF_PLACE, "mailed_proof")
_INTO: Final = f"""
    INSERT INTO login_events (user_id, organization_id, service_id, through_organization_id, customer_id,
                              {columns(LoginEvent, without=_OF_PLACE)})
"""
_COMPLETED: Final = "(EXCLUDED.through_organization_id, EXCLUDED.customer_id)"
# What a sign-in that waits was for stays known while it is refused, also where the refusal does not name it.
_STILL_REFUSED: Final = """
    (CASE WHEN EXCLUDED.customer_id IS NULL AND login_events.customer_id IS NOT NULL
          THEN login_events.through_organization_id ELSE EXCLUDED.through_organization_id END,
     coalesce(EXCLUDED.customer_id, login_events.customer_id))
"""


def _instead(of_customer: LiteralString) -> LiteralString:
    return f"""
        ON CONFLICT (id) DO UPDATE
        SET    (organization_id, service_id, {columns(LoginEvent, without=_KEPT)})
             = (EXCLUDED.organization_id, EXCLUDED.service_id,
                {columns(LoginEvent, table="excluded", without=_KEPT)}),
               mailed_proof = coalesce(EXCLUDED.mailed_proof, login_events.mailed_proof),
               (through_organization_id, customer_id) = {of_customer}
        WHERE  login_events.user_id = EXCLUDED.user_id AND NOT login_events.success
    """


ADD: Final = f"""
    {_INTO}
    SELECT u.id, coalesce(%(organization_id)s::uuid, u.id), %(service_id)s,
           CASE WHEN %(organization_id)s::uuid IS NULL OR %(customer_id)s::uuid IS NOT NULL
                THEN %(through_organization_id)s::uuid END,
           %(customer_id)s::uuid,
           {placeholders(LoginEvent, without=_OF_PLACE)}
    FROM   users u
    LEFT   JOIN LATERAL (SELECT id FROM organizations WHERE id = %(organization_id)s::uuid FOR KEY SHARE) AS o ON true
    WHERE  u.id = %(user_id)s AND (%(organization_id)s::uuid IS NULL OR o.id IS NOT NULL)
    {_instead(_COMPLETED)}
"""
_IS_AFFILIATED: Final = """
    (NOT %(affiliated_only)s
     OR EXISTS (SELECT FROM memberships m WHERE m.organization_id = o.id AND m.user_id = u.id)
     OR EXISTS (SELECT FROM service_users l WHERE l.organization_id = o.id AND l.user_id = u.id))
"""
# The customer of the service that the attempt names, if it is one to which the user belongs, and has confirmed that.
_FOR_CUSTOMER: Final = """
    SELECT c.id, c.organization_id
    FROM   service_customers c
    JOIN   memberships cm ON cm.organization_id = c.organization_id AND cm.user_id = u.id
                         AND cm.confirmed_at IS NOT NULL
    WHERE  c.vendor_id = named.id AND c.service_id = s.id
      AND  (c.id = %(named_customer_id)s::uuid
            OR c.organization_id = (SELECT o.id FROM organizations o WHERE o.slug = %(named_customer)s::text))
"""
# The organization that the attempt names, or else the one through which it was made; never both. It is not deleted
# before the transaction ends. An attempt for a customer of a service belongs to both organizations.
ADD_UNFINISHED: Final = f"""
    {_INTO}
    SELECT u.id, coalesce(named.id, u.id), s.id, coalesce(customer.organization_id, through.id), customer.id,
           {placeholders(LoginEvent, without=_OF_PLACE)}
    FROM   users u
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  o.slug = %(organization_slug)s AND o.status <> 'deleting' AND {_IS_AFFILIATED}
                         FOR    KEY SHARE) AS named ON true
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  %(organization_slug)s::text IS NULL
                         AND    o.id = %(through_organization_id)s AND {_IS_AFFILIATED}) AS through ON true
    LEFT   JOIN services s ON s.organization_id = named.id AND s.slug = %(service_slug)s
    LEFT   JOIN LATERAL ({_FOR_CUSTOMER}) AS customer ON true
    WHERE  u.id = %(user_id)s
    AND    (SELECT count(*)
            FROM   (SELECT
                    FROM   login_events
                    WHERE  user_id = %(user_id)s AND NOT success AND created_at > %(since)s AND id >= %(since_id)s
                    AND    reason = %(reason)s AND organization_id = coalesce(named.id, u.id)
                    LIMIT  %(rows_max)s) AS recent) < %(rows_max)s
    {_instead(_STILL_REFUSED)}
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
        customer: UUID | str | None,
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
                "named_customer_id": customer if isinstance(customer, UUID) else None,
                "named_customer": customer if isinstance(customer, str) else None,
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
