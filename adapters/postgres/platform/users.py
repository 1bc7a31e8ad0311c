"""Finding and listing users among all accounts; every statement reads an index, or a bounded number of rows.

PostgreSQL cannot know how many addresses contain a part, so nothing is left to its guess. Where many of the newest
accounts contain it, the list is complete after some of them, and the total after some more. Where few do, the index of
all groups of characters has few to return.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP
from adapters.postgres.letter_groups import GROUP_LETTERS, groups_in
from adapters.postgres.transaction import Aggregate
from core.ids import LAST_ID
from core.platform.users import (
    ORGANIZATIONS_LISTED_MAX,
    ListedUser,
    PlatformUser,
    PlatformUserOrganization,
    UserPosition,
)
from core.positions import Position

# Sorts after every text that begins with the same part.
_LAST_CHARACTER: Final = "\U0010ffff"
# The organizations of the account `u`, for `_organizations`.
ORGANIZATIONS: Final = f"""
    coalesce((SELECT jsonb_agg(jsonb_build_array(o.id, o.slug, o.name, m.role) ORDER BY m.created_at, o.slug)
              FROM   (SELECT   organization_id, role, created_at
                      FROM     memberships
                      WHERE    user_id = u.id AND {IS_MEMBERSHIP}
                      ORDER BY created_at, organization_id
                      LIMIT    %(organizations_max)s) AS m
              JOIN   organizations o ON o.id = m.organization_id), '[]') AS organizations
"""
_BEGINNING: Final = """
    SELECT   id, 1 AS source, row_number() OVER () AS place
    FROM     (SELECT   id
              FROM     users
              WHERE    email ~>=~ %(part)s AND email ~<~ %(after)s
                AND    (NOT %(hides_owners)s OR NOT is_platform_owner)
              ORDER BY email USING ~<~
              LIMIT    %(limit)s) AS ordered
"""
# Searched only when the beginnings do not fill the list. The newest first, because in the order of addresses the
# matches could all come last, after many addresses that do not match.
_CONTAINING: Final = """
    SELECT   id, 2 AS source, row_number() OVER () AS place
    FROM     (SELECT   id
              FROM     users
              WHERE    letter_groups(email) @> %(groups)s
                AND    strpos(email, %(part)s) > 1
                AND    (NOT %(hides_owners)s OR NOT is_platform_owner)
                AND    (SELECT count(*) FROM beginning) < %(limit)s
              ORDER BY created_at DESC, id DESC
              LIMIT    %(limit)s) AS ordered
"""
_SHOWN: Final = f"""
    SELECT   u.id, u.email, u.name, u.is_platform_owner, u.mfa_enabled_at IS NOT NULL AS mfa_enabled, u.created_at,
             {ORGANIZATIONS}
"""
WITH_BEGINNING: Final = f"""
    WITH beginning AS MATERIALIZED ({_BEGINNING})
    {_SHOWN}
    FROM     beginning
    JOIN     users u USING (id)
    ORDER BY place
"""
WITH_PART: Final = f"""
    WITH beginning  AS MATERIALIZED ({_BEGINNING}),
         containing AS MATERIALIZED ({_CONTAINING}),
         found      AS (SELECT *
                        FROM   beginning
                        UNION  ALL
                        SELECT *
                        FROM   containing
                        ORDER BY source, place
                        LIMIT  %(limit)s)
    {_SHOWN}
    FROM     found
    JOIN     users u USING (id)
    ORDER BY source, place
"""
WITH_ID: Final = f"""
    {_SHOWN}
    FROM     users u
    WHERE    u.id = %(user_id)s AND (%(part)s = '' OR strpos(u.email, %(part)s) > 0)
      AND    (NOT %(hides_owners)s OR NOT u.is_platform_owner)
"""


class PostgresPlatformUsers(Aggregate):
    """The port `PlatformUsers`."""

    def with_email(
        self, part: str, *, limit: int, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        return self._all(
            _found,
            WITH_PART if len(part) >= GROUP_LETTERS else WITH_BEGINNING,
            {
                "part": part,
                "groups": groups_in(part),
                "after": part + _LAST_CHARACTER,
                "limit": limit,
                "organizations_max": organizations_max,
                "hides_owners": hides_owners,
            },
            # Planned for each part anew: the best plan for a rare part takes a second for one that all addresses
            # contain.
            prepare=False,
        )

    def with_id(
        self, user_id: UUID, *, email_part: str, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        return self._all(
            _found,
            WITH_ID,
            {
                "user_id": user_id,
                "part": email_part,
                "organizations_max": organizations_max,
                "hides_owners": hides_owners,
            },
        )


def _found(*, organizations: list[list[str]], **columns: Any) -> PlatformUser:
    return PlatformUser(organizations=_organizations(organizations), **columns)


def _organizations(rows: list[list[str]]) -> list[PlatformUserOrganization]:
    return [
        PlatformUserOrganization(id=UUID(row_id), slug=slug, name=name, role=role) for row_id, slug, name, role in rows
    ]


# A list is first looked for among this many of the newest accounts.
_NEWEST: Final = 20_000
# Where at least every tenth of these contains the part, this many are counted one by one.
_PROBED: Final = 2_000
_COUNTED_ONE_BY_ONE: Final = 120_000
_SHARE_OF_MANY: Final = 10
# After every account.
_END: Final = Position(at=datetime.max.replace(tzinfo=UTC), id=LAST_ID)
_MAY_BE_SHOWN: Final = "(NOT %(hides_owners)s OR NOT is_platform_owner)"
_BEGINS: Final = f"email ~>=~ %(part)s AND email ~<~ %(end)s AND {_MAY_BE_SHOWN}"
_BY_GROUPS: Final = f"letter_groups(email) @> %(groups)s AND {_MAY_BE_SHOWN}"
BEGINNING: Final = f"""
    SELECT   id
    FROM     users
    WHERE    email ~>~ %(after_email)s AND {_BEGINS}
    ORDER BY email USING ~<~
    LIMIT    %(limit)s
"""
NEWEST: Final = f"""
    SELECT   id
    FROM     (SELECT   id, created_at, email, is_platform_owner
              FROM     users
              WHERE    (created_at, id) < (%(before)s, %(before_id)s)
              ORDER BY created_at DESC, id DESC
              LIMIT    %(newest)s) AS newest
    WHERE    (%(part)s = '' OR strpos(email, %(part)s) > 1) AND {_MAY_BE_SHOWN}
    ORDER BY created_at DESC, id DESC
    LIMIT    %(limit)s
"""
CONTAINING: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT id, created_at
        FROM   users
        WHERE  {_BY_GROUPS} AND strpos(email, %(part)s) > 1 AND (created_at, id) < (%(before)s, %(before_id)s))
    SELECT   id
    FROM     found
    ORDER BY created_at DESC, id DESC
    LIMIT    %(limit)s
"""
COUNT_BEGINNING: Final = f"SELECT count(*) FROM (SELECT FROM users WHERE {_BEGINS} LIMIT %(counted_max)s) AS counted"
COUNT_NEWEST: Final = f"""
    SELECT count(*)
    FROM   (SELECT FROM (SELECT   email, is_platform_owner
                         FROM     users
                         ORDER BY created_at DESC, id DESC
                         LIMIT    %(newest)s) AS newest
            WHERE  strpos(email, %(part)s) > 0 AND {_MAY_BE_SHOWN}
            LIMIT  %(counted_max)s) AS counted
"""
COUNT_CONTAINING: Final = f"""
    SELECT count(*)
    FROM   (SELECT FROM users WHERE {_BY_GROUPS} AND strpos(email, %(part)s) > 0 LIMIT %(counted_max)s) AS counted
"""
LISTED: Final = f"""
    SELECT   u.id, u.email, u.name, u.created_at, u.email_verified_at IS NOT NULL AS email_verified,
             u.mfa_enabled_at IS NOT NULL AS mfa_enabled, u.is_platform_owner, u.is_platform_support,
             u.deactivated_at IS NOT NULL AS is_deactivated, u.closed_at IS NOT NULL AS is_closed,
             u.anonymized_at IS NOT NULL AS is_anonymized,
             {ORGANIZATIONS}
    FROM     unnest(%(ids)s::uuid[]) WITH ORDINALITY AS found (id, place)
    JOIN     users u USING (id)
    WHERE    NOT %(hides_owners)s OR NOT u.is_platform_owner
    ORDER BY found.place
"""


class PostgresFoundUsers(Aggregate):
    """The port `FoundUserList`."""

    def page(self, part: str, *, after: UserPosition, limit: int, hides_owners: bool) -> Sequence[ListedUser]:
        ids: list[UUID] = []
        if part and after.account is None:
            ids = self._beginning(part, after, limit=limit, hides_owners=hides_owners)
        if len(ids) < limit and (not part or len(part) >= GROUP_LETTERS):
            ids += self._others(part, after.account or _END, limit=limit - len(ids), hides_owners=hides_owners)
        return self._listed(ids, hides_owners=hides_owners)

    def count(self, part: str, *, counted_max: int, hides_owners: bool) -> int:
        values = {
            "part": part,
            "groups": groups_in(part),
            "counted_max": counted_max,
            "hides_owners": hides_owners,
        }
        if part and len(part) < GROUP_LETTERS:
            return self._value(COUNT_BEGINNING, values | {"end": part + _LAST_CHARACTER})
        if not part:
            # Hidden owners are few, so hardly more rows are read than counted.
            return self._value(COUNT_NEWEST, values | {"newest": _COUNTED_ONE_BY_ONE})
        if self._value(COUNT_NEWEST, values | {"newest": _PROBED}) * _SHARE_OF_MANY >= _PROBED:
            counted = self._value(COUNT_NEWEST, values | {"newest": _COUNTED_ONE_BY_ONE})
            if counted == counted_max:
                return counted
        return self._value(COUNT_CONTAINING, values)

    def with_id(self, user_id: UUID, *, hides_owners: bool) -> Sequence[ListedUser]:
        return self._listed([user_id], hides_owners=hides_owners)

    def _beginning(self, part: str, after: UserPosition, *, limit: int, hides_owners: bool) -> list[UUID]:
        return self._values(
            BEGINNING,
            {
                "part": part,
                "end": part + _LAST_CHARACTER,
                "after_email": after.email or "",
                "limit": limit,
                "hides_owners": hides_owners,
            },
        )

    def _others(self, part: str, before: Position, *, limit: int, hides_owners: bool) -> list[UUID]:
        values = {
            "part": part,
            "groups": groups_in(part),
            "before": before.at,
            "before_id": before.id,
            "limit": limit,
            "hides_owners": hides_owners,
        }
        newest = self._values(NEWEST, values | {"newest": _NEWEST})
        return newest if len(newest) == limit or not part else self._values(CONTAINING, values)

    def _listed(self, ids: list[UUID], *, hides_owners: bool) -> Sequence[ListedUser]:
        return self._all(
            _listed,
            LISTED,
            # One more than is shown tells whether there are more.
            {"ids": ids, "organizations_max": ORGANIZATIONS_LISTED_MAX + 1, "hides_owners": hides_owners},
        )


def _listed(*, organizations: list[list[str]], **columns: Any) -> ListedUser:
    return ListedUser(
        organizations=_organizations(organizations[:ORGANIZATIONS_LISTED_MAX]),
        has_more_organizations=len(organizations) > ORGANIZATIONS_LISTED_MAX,
        **columns,
    )
