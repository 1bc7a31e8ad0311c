"""End users in the console, found in the index of the links of their organization alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.directory_names import DIRECTORY_NAME
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.services.found_end_users import EndUserState, ListedEndUser

# The index of the links holds the address and the service, so nothing else is read before the page is known.
_FILTERED: Final = """
    SELECT DISTINCT user_id
    FROM   service_users
    WHERE  organization_id = %(organization_id)s
      AND  (%(part)s = '' OR strpos(email, %(part)s) > 0)
      AND  (%(service)s = ''
            OR service_id = (SELECT id FROM services
                             WHERE  organization_id = %(organization_id)s AND slug = %(service)s))
"""
_FROM_THERE: Final = "AND (%(after)s::uuid IS NULL OR user_id < %(after)s) ORDER BY user_id DESC LIMIT %(limit)s"
# Before the first sign-in of a user that an API key has linked, the organization sees no data of the account, so that
# it cannot tell whether it existed before; and it never sees when the account was made. So does the JSON interface.
_SHOWN: Final = f"""
    SELECT u.id, u.email, used.created_at,
           coalesce(CASE WHEN used.last_sign_in_at IS NOT NULL AND u.email_verified_at IS NOT NULL THEN u.name END,
                    {DIRECTORY_NAME.format(organization_id="%(organization_id)s", user_id="u.id")}) AS name,
           CASE WHEN EXISTS (SELECT FROM memberships
                             WHERE  organization_id = %(organization_id)s AND user_id = u.id
                               AND  suspended_at IS NOT NULL) THEN 'suspended'
                WHEN used.last_sign_in_at IS NULL THEN 'added'
                WHEN u.deactivated_at IS NOT NULL THEN 'deactivated'
                WHEN u.closed_at IS NOT NULL THEN 'closed'
                ELSE 'active' END AS state,
           CASE WHEN used.last_sign_in_at IS NOT NULL THEN u.email_verified_at IS NOT NULL END AS is_verified,
           CASE WHEN used.last_sign_in_at IS NOT NULL THEN u.mfa_enabled_at IS NOT NULL END AS has_second_factor,
           used.last_sign_in_at, used.services, used.plans
    FROM   page
    JOIN   users u ON u.id = page.user_id
    CROSS  JOIN LATERAL (
               SELECT min(l.first_login_at) AS created_at, max(l.last_login_at) AS last_sign_in_at,
                      array_agg(s.slug ORDER BY s.slug) AS services,
                      coalesce(array_agg(p.name ORDER BY s.slug) FILTER (WHERE p.id IS NOT NULL), '{{}}') AS plans
               FROM   service_users l
               JOIN   services s ON s.id = l.service_id AND s.organization_id = l.organization_id
               LEFT   JOIN subscriptions b ON b.service_id = l.service_id AND b.user_id = l.user_id
                                              AND b.status IN ('active', 'past_due')
               LEFT   JOIN plans p ON p.id = b.plan_id AND p.service_id = b.service_id
               WHERE  l.user_id = page.user_id AND l.organization_id = %(organization_id)s) AS used
    ORDER  BY u.id DESC
"""
PAGE: Final = f"WITH page AS MATERIALIZED ({_FILTERED} {_FROM_THERE}) {_SHOWN}"
NEWEST: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   DISTINCT user_id
        FROM     (SELECT   user_id, email
                  FROM     service_users
                  WHERE    organization_id = %(organization_id)s
                  ORDER BY user_id DESC
                  LIMIT    %(looked_at_max)s) AS newest
        WHERE    strpos(email, %(part)s) > 0
        ORDER BY user_id DESC
        LIMIT    %(limit)s)
    {_SHOWN}
"""
COUNT: Final = f"SELECT count(*) FROM ({_FILTERED} LIMIT %(counted_max)s) AS counted"
FIND: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT DISTINCT user_id
        FROM   service_users
        WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s)
    {_SHOWN}
"""
_SESSIONS: Final = f"""
    SELECT count(*)
    FROM   sessions s
    WHERE  user_id = %(user_id)s AND {IS_LIVE}
      AND  (organization_id = %(organization_id)s OR confined_to = %(organization_id)s)
"""


class PostgresFoundEndUsers(Aggregate):
    """The port `FoundEndUsers`."""

    def page(
        self, organization_id: UUID, *, part: str, service: str, after: Position | None, limit: int
    ) -> Sequence[ListedEndUser]:
        return self._all(
            _listed,
            PAGE,
            {
                "organization_id": organization_id,
                "part": part,
                "service": service,
                "after": after.id if after is not None else None,
                "limit": limit,
            },
            # Planned for what is given: a plan for any filter would keep all of them.
            prepare=False,
        )

    def newest(self, organization_id: UUID, *, part: str, looked_at_max: int, limit: int) -> Sequence[ListedEndUser]:
        values = {"organization_id": organization_id, "part": part, "looked_at_max": looked_at_max, "limit": limit}
        return self._all(_listed, NEWEST, values)

    def count(self, organization_id: UUID, *, part: str, service: str, counted_max: int) -> int:
        [count] = self._values(
            COUNT,
            {"organization_id": organization_id, "part": part, "service": service, "counted_max": counted_max},
            # Likewise: a plan for any filter reads the users of all services to count the users of one.
            prepare=False,
        )
        return count

    def find(self, organization_id: UUID, user_id: UUID) -> ListedEndUser | None:
        return self._one(_listed, FIND, {"organization_id": organization_id, "user_id": user_id})

    def count_sessions(self, organization_id: UUID, user_id: UUID) -> int:
        return self._value(
            _SESSIONS, {"organization_id": organization_id, "user_id": user_id, **live_at(self._transaction.now)}
        )


def _listed(*, state: str, **columns: Any) -> ListedEndUser:
    return ListedEndUser(state=EndUserState(state), **columns)
