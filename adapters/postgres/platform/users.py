"""Finding users among all accounts; every search uses an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP
from adapters.postgres.letter_groups import GROUP_LETTERS, groups_in
from adapters.postgres.transaction import Aggregate
from core.platform.users import PlatformUser, PlatformUserOrganization

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
