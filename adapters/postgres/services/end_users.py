"""End users in their tables. The links to services hold the addresses, so that a search reads one index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.affiliations import DIRECTORY_NAME
from adapters.postgres.services.user_metadata import NOTED
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.services.end_users import (
    EndUser,
    EndUserDetails,
    EndUserService,
    EndUsersPage,
    EndUserState,
    ListedEndUser,
    SessionSummary,
)

# More elements than an array can hold, and still within the range of its subscripts.
_OFFSET_MAX: Final = 2**30
# An API key links any account. Until its user has signed in, the organization sees nothing of how it is protected, nor
# what its user is called, whether the account existed before or not; and never since when there is one.
_SHOWN: Final = f"""
    SELECT found.total,
           u.id, u.email, used.created_at,
           coalesce(CASE WHEN used.last_login_at IS NOT NULL AND u.email_verified_at IS NOT NULL THEN u.name END,
                    {DIRECTORY_NAME.format(organization_id="%(organization_id)s", user_id="u.id")}) AS name,
           u.mfa_enabled_at IS NOT NULL AND used.last_login_at IS NOT NULL AS mfa_enabled,
           used.last_login_at, used.services
    FROM   found
    LEFT   JOIN page ON true
    LEFT   JOIN users u ON u.id = page.user_id
    LEFT   JOIN LATERAL (
               SELECT min(l.first_login_at) AS created_at, max(l.last_login_at) AS last_login_at,
                      array_agg(s.slug ORDER BY s.slug) AS services
               FROM   service_users l
               JOIN   services s ON s.id = l.service_id AND s.organization_id = l.organization_id
               WHERE  l.user_id = page.user_id AND l.organization_id = %(organization_id)s) AS used ON true
    ORDER  BY u.id DESC
"""
# All end users are only counted; details are read for the page alone.
PAGE_OF_ALL: Final = f"""
    WITH   found (total) AS MATERIALIZED (
               SELECT count(*)
               FROM   (SELECT   DISTINCT user_id
                       FROM     service_users
                       WHERE    organization_id = %(organization_id)s
                       ORDER BY user_id DESC) AS counted),
           page (user_id) AS MATERIALIZED (
               SELECT   DISTINCT user_id
               FROM     service_users
               WHERE    organization_id = %(organization_id)s
               ORDER BY user_id DESC
               LIMIT    %(limit)s OFFSET %(offset)s)
    {_SHOWN}
"""
# Every address contains the empty part, so one query serves both filters. It reads the links of the organization once,
# in the order of their index, and nothing else before the page is known.
PAGE: Final = f"""
    WITH   matching (people) AS MATERIALIZED (
               SELECT coalesce(array_agg(user_id), '{{}}')
               FROM   (SELECT   DISTINCT user_id
                       FROM     service_users
                       WHERE    organization_id = %(organization_id)s
                         AND    strpos(email, %(part)s) > 0
                         AND    (%(service_id)s::uuid IS NULL OR service_id = %(service_id)s)
                       ORDER BY user_id DESC) AS ordered),
           found (total) AS (SELECT cardinality(people) FROM matching),
           page (user_id) AS MATERIALIZED (
               SELECT unnest(people[%(offset)s + 1 : %(offset)s + %(limit)s]) FROM matching)
    {_SHOWN}
"""
DETAIL: Final = f"""
    SELECT u.id, u.email, known.created_at,
           coalesce(CASE WHEN u.email_verified_at IS NOT NULL AND known.is_known THEN u.name END,
                    {DIRECTORY_NAME.format(organization_id="l.organization_id", user_id="l.user_id")}) AS person_name,
           u.email_verified_at IS NOT NULL AND known.is_known AS email_verified,
           u.mfa_enabled_at IS NOT NULL AND known.is_known    AS mfa_enabled,
           greatest(CASE WHEN known.is_known THEN u.updated_at END, known.created_at) AS updated_at,
           s.id AS service_id, s.slug, s.name, l.first_login_at, l.last_login_at, {NOTED} AS metadata,
           (SELECT count(*)
            FROM   sessions s
            WHERE  user_id = u.id AND organization_id = l.organization_id AND {IS_LIVE}) AS active_count,
           (SELECT max(created_at)
            FROM   sessions
            WHERE  user_id = u.id AND organization_id = l.organization_id) AS last_created_at
    FROM   service_users l
    JOIN   users u    ON u.id = l.user_id
    JOIN   services s ON s.id = l.service_id AND s.organization_id = l.organization_id
    CROSS  JOIN LATERAL (
               SELECT min(first_login_at) AS created_at, max(last_login_at) IS NOT NULL AS is_known
               FROM   service_users
               WHERE  organization_id = l.organization_id AND user_id = l.user_id) AS known
    WHERE  l.organization_id = %(organization_id)s AND l.user_id = %(user_id)s
    ORDER  BY s.slug
"""


class PostgresEndUsers(Aggregate):
    """The port `EndUsers`."""

    def page(
        self, organization_id: UUID, *, part: str, service_id: UUID | None, limit: int, offset: int
    ) -> EndUsersPage:
        users, total = self._page_of(
            EndUser,
            PAGE_OF_ALL if not part and service_id is None else PAGE,
            {
                "organization_id": organization_id,
                "part": part,
                "service_id": service_id,
                "limit": limit,
                "offset": min(offset, _OFFSET_MAX),
            },
        )
        return EndUsersPage(users=users, total=total)

    def find(self, organization_id: UUID, user_id: UUID) -> EndUserDetails | None:
        links = self._rows(
            DETAIL,
            {
                "organization_id": organization_id,
                "user_id": user_id,
                **live_at(self._transaction.now),
            },
        )
        return _detail(links) if links else None

    def email_of(self, organization_id: UUID, user_id: UUID) -> str | None:
        return self._value_or_none(
            "SELECT email FROM service_users WHERE organization_id = %s AND user_id = %s LIMIT 1",
            (organization_id, user_id),
        )


def _detail(links: list[dict[str, Any]]) -> EndUserDetails:
    user = links[0]
    services = [
        EndUserService(
            id=link["service_id"],
            slug=link["slug"],
            name=link["name"],
            first_login_at=link["first_login_at"],
            last_login_at=link["last_login_at"],
            metadata=link["metadata"],
        )
        for link in links
    ]
    return EndUserDetails(
        id=user["id"],
        email=user["email"],
        name=user["person_name"],
        email_verified=user["email_verified"],
        created_at=user["created_at"],
        updated_at=user["updated_at"],
        last_login_at=max((link["last_login_at"] for link in links if link["last_login_at"]), default=None),
        mfa_enabled=user["mfa_enabled"],
        services=services,
        sessions=SessionSummary(active_count=user["active_count"], last_created_at=user["last_created_at"]),
    )


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
_LISTED: Final = f"""
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
FOUND_PAGE: Final = f"WITH page AS MATERIALIZED ({_FILTERED} {_FROM_THERE}) {_LISTED}"
FOUND_NEWEST: Final = f"""
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
    {_LISTED}
"""
FOUND_COUNT: Final = f"SELECT count(*) FROM ({_FILTERED} LIMIT %(counted_max)s) AS counted"
FOUND_ONE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT DISTINCT user_id
        FROM   service_users
        WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s)
    {_LISTED}
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
            FOUND_PAGE,
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
        return self._all(_listed, FOUND_NEWEST, values)

    def count(self, organization_id: UUID, *, part: str, service: str, counted_max: int) -> int:
        [count] = self._values(
            FOUND_COUNT,
            {"organization_id": organization_id, "part": part, "service": service, "counted_max": counted_max},
            # Likewise: a plan for any filter reads the users of all services to count the users of one.
            prepare=False,
        )
        return count

    def find(self, organization_id: UUID, user_id: UUID) -> ListedEndUser | None:
        return self._one(_listed, FOUND_ONE, {"organization_id": organization_id, "user_id": user_id})

    def count_sessions(self, organization_id: UUID, user_id: UUID) -> int:
        return self._value(
            _SESSIONS, {"organization_id": organization_id, "user_id": user_id, **live_at(self._transaction.now)}
        )


def _listed(*, state: str, **columns: Any) -> ListedEndUser:
    return ListedEndUser(state=EndUserState(state), **columns)
