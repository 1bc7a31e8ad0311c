"""Members in the console, found among the memberships of their organization alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.log_ids import kept_values
from adapters.postgres.organizations.departures import SESSIONS_THAT_END, UNPAID
from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.organizations.people import ListedMember, MemberDeparture, MemberSource
from core.positions import BEGIN, Position

# Only accounts of members are read. The index of all addresses would find a rare part faster in an organization of very
# many members, but its time would tell how many accounts of other organizations have the part.
_OF_ORGANIZATION: Final = "m.organization_id = %(organization_id)s AND (%(role)s = '' OR m.role = %(role)s)"
_FROM_THERE: Final = "AND (m.created_at, m.id) > (%(at)s, %(id)s) ORDER BY m.created_at, m.id"
# Looking up the ids as one array reads each page of their index once, in place of descending it for each member.
_MATCHING: Final = f"""
    SELECT u.id
    FROM   users u
    WHERE  u.id = ANY (ARRAY(SELECT m.user_id FROM memberships m WHERE {_OF_ORGANIZATION}))
      AND  strpos(u.email, %(part)s) > 0
"""  # noqa: S608 - composed only of constants
# A frequent part fills the page with the first members; a rare one takes a look at all of them.
LOOKED_AT: Final = 1_000
_PAGE_OF_ALL: Final = f"""
    SELECT m.id FROM memberships m WHERE {_OF_ORGANIZATION} {_FROM_THERE} LIMIT %(limit)s
"""  # noqa: S608 - likewise
_NEAR_PAGE: Final = f"""
    SELECT   m.id
    FROM     (SELECT m.id, m.created_at, m.user_id
              FROM   memberships m
              WHERE  {_OF_ORGANIZATION} {_FROM_THERE}
              LIMIT  %(looked_at)s) AS m
    JOIN     users u ON u.id = m.user_id
    WHERE    strpos(u.email, %(part)s) > 0
    ORDER BY m.created_at, m.id
    LIMIT    %(limit)s
"""  # noqa: S608 - likewise
_FAR_PAGE: Final = f"""
    SELECT m.id
    FROM   matching u
    JOIN   memberships m ON m.user_id = u.id
    WHERE  {_OF_ORGANIZATION} {_FROM_THERE}
    LIMIT  %(limit)s
"""  # noqa: S608 - likewise
_SHOWN: Final = f"""
    SELECT m.id, m.user_id, u.email, {MEMBER_NAME}, m.role, m.created_at,
           m.confirmed_at IS NOT NULL AS is_confirmed, m.suspended_at IS NOT NULL AS is_suspended,
           CASE WHEN m.confirmed_at IS NOT NULL THEN u.mfa_enabled_at IS NOT NULL END AS has_second_factor,
           CASE WHEN m.confirmed_at IS NOT NULL
                THEN (SELECT   created_at
                      FROM     login_events
                      WHERE    organization_id = m.organization_id AND user_id = m.user_id
                      AND      organization_id <> user_id AND success AND id >= %(kept_id)s AND id < %(now_id)s
                      ORDER BY id DESC
                      LIMIT    1) END AS last_sign_in_at,
           CASE WHEN m.created_at = (SELECT created_at FROM organizations WHERE id = m.organization_id) THEN 'founder'
                WHEN EXISTS (SELECT FROM scim_profiles
                             WHERE  organization_id = m.organization_id AND user_id = m.user_id) THEN 'directory'
                WHEN EXISTS (SELECT FROM identities
                             WHERE  organization_id = m.organization_id AND user_id = m.user_id
                               AND  connection_id IS NOT NULL) THEN 'connection'
                ELSE 'invitation' END AS source
"""  # noqa: S608 - composed only of constants
# The page is found in the index of the memberships and in the addresses alone; the rest is read for its rows.
_OF_PAGE: Final = """
    FROM     page
    JOIN     memberships m ON m.id = page.id AND m.organization_id = %(organization_id)s
    JOIN     users u ON u.id = m.user_id
    ORDER BY m.created_at, m.id
"""
PAGE: Final = f"WITH page AS MATERIALIZED ({_PAGE_OF_ALL}) {_SHOWN} {_OF_PAGE}"
NEAR_PAGE: Final = f"WITH page AS MATERIALIZED ({_NEAR_PAGE}) {_SHOWN} {_OF_PAGE}"
FAR_PAGE: Final = f"""
    WITH matching AS MATERIALIZED ({_MATCHING}), page AS MATERIALIZED ({_FAR_PAGE}) {_SHOWN} {_OF_PAGE}
"""
_COUNT_OF_ROLE: Final = f"""
    SELECT count(*) FROM (SELECT FROM memberships m WHERE {_OF_ORGANIZATION} LIMIT %(counted_max)s) AS counted
"""  # noqa: S608 - likewise
COUNT: Final = f"SELECT count(*) FROM ({_MATCHING} LIMIT %(counted_max)s) AS counted"  # noqa: S608 - likewise
_DEPARTURE: Final = f"""
    WITH ending AS MATERIALIZED (
        SELECT l.service_id, l.user_id
        FROM   service_users l
        WHERE  l.organization_id = %(organization_id)s AND l.user_id = ANY (%(user_ids)s) AND l.origin = 'membership'
          AND  {UNPAID})
    SELECT (SELECT count(*) FROM sessions s WHERE {SESSIONS_THAT_END}) AS sessions,
           (SELECT count(*) FROM ending) AS services,
           (SELECT count(*)
            FROM   subscriptions b
            JOIN   ending e ON e.service_id = b.service_id AND e.user_id = b.user_id
            WHERE  b.organization_id = %(organization_id)s
              AND  b.status IN ('active', 'past_due')) AS subscriptions,
           (SELECT count(*)
            FROM   service_grants
            WHERE  organization_id = %(organization_id)s AND user_id = ANY (%(user_ids)s)) AS grants,
           (SELECT count(*)
            FROM   invitations
            WHERE  organization_id = %(organization_id)s AND invited_by = ANY (%(user_ids)s) AND status = 'pending')
               AS invitations,
           (SELECT count(*)
            FROM   organization_keys
            WHERE  organization_id = %(organization_id)s AND created_by = ANY (%(user_ids)s)) AS keys
"""  # noqa: S608 - composed only of constants


class PostgresPeople(Aggregate):
    """The port `People`."""

    def page(
        self, organization_id: UUID, *, part: str, role: str, after: Position | None, limit: int
    ) -> Sequence[ListedMember]:
        begin = after or BEGIN
        given = {
            "organization_id": organization_id,
            "part": part,
            "role": role,
            "at": begin.at,
            "id": begin.id,
            "limit": limit,
            **kept_values(self._transaction.now),
        }
        if not part:
            return self._all(_listed, PAGE, given)
        found = self._all(_listed, NEAR_PAGE, {**given, "looked_at": LOOKED_AT})
        return found if len(found) == limit else self._all(_listed, FAR_PAGE, given)

    def count(self, organization_id: UUID, *, part: str, role: str, counted_max: int) -> int:
        if not part and not role:
            return self._value(
                """
                SELECT least(%s, coalesce((SELECT members FROM membership_totals WHERE organization_id = %s), 0))
                """,
                (counted_max, organization_id),
            )
        return self._value(
            COUNT if part else _COUNT_OF_ROLE,
            {"organization_id": organization_id, "part": part, "role": role, "counted_max": counted_max},
        )

    def find(self, organization_id: UUID, user_id: UUID) -> ListedMember | None:
        return self._one(
            _listed,
            f"""
            {_SHOWN}
            FROM   memberships m
            JOIN   users u ON u.id = m.user_id
            WHERE  m.organization_id = %(organization_id)s AND m.user_id = %(user_id)s
            """,
            kept_values(self._transaction.now) | {"organization_id": organization_id, "user_id": user_id},
        )

    def among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[ListedMember]:
        return self._all(
            _listed,
            f"""
            {_SHOWN}
            FROM     memberships m
            JOIN     users u ON u.id = m.user_id
            WHERE    m.organization_id = %(organization_id)s AND m.user_id = ANY (%(user_ids)s)
            ORDER BY m.created_at, m.id
            """,
            {**kept_values(self._transaction.now), "organization_id": organization_id, "user_ids": list(user_ids)},
        )

    def departure(self, organization_id: UUID, user_ids: Sequence[UUID]) -> MemberDeparture:
        return self._only(
            MemberDeparture,
            _DEPARTURE,
            {
                "organization_id": organization_id,
                "user_ids": list(user_ids),
                "origins": ["membership"],
                "now": self._transaction.now,
            },
        )


def _listed(*, source: str, **columns: Any) -> ListedMember:
    return ListedMember(source=MemberSource(source), **columns)
