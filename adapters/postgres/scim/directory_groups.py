"""Groups of directories, and who is in them; triggers keep the numbers of members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.organizations.authority import Authority
from core.positions import Position
from core.scim.directory_group_filters import GroupSearch
from core.scim.directory_groups import GroupsPage, PersonInGroup
from core.scim.group_resources import Group

_GROUP: Final = """
    SELECT g.id, g.display_name, g.external_id, g.created_at, g.updated_at, g.members AS member_count, g.changes
    FROM   directory_groups g
    WHERE  g.organization_id = %(organization_id)s
"""
_SELECTED: Final = """
    FROM   directory_groups g
    WHERE  g.organization_id = %(organization_id)s
      AND  (%(display_name)s::text IS NULL OR lower(g.display_name) = lower(%(display_name)s))
      AND  (%(external_id)s::text IS NULL OR g.external_id = %(external_id)s)
      AND  (%(group_id)s::uuid IS NULL OR g.id = %(group_id)s)
      AND  (SELECT count(*) FROM directory_group_members i
            WHERE  i.organization_id = g.organization_id AND i.group_id = g.id
              AND  i.user_id = ANY (%(member_ids)s)) = cardinality(%(member_ids)s::uuid[])
"""
PAGE: Final = f"""
    SELECT    (SELECT count(*) {_SELECTED}) AS total, p.*
    FROM      (VALUES (0)) AS one
    LEFT JOIN (SELECT   g.id, g.display_name, g.external_id, g.created_at, g.updated_at, g.members AS member_count,
                        g.changes
               {_SELECTED}
               ORDER BY g.id
               LIMIT    %(limit)s OFFSET %(offset)s) AS p ON true
    ORDER BY  p.id
"""


PEOPLE: Final = f"""
    SELECT   m.user_id, u.email, m.role, m.created_at AS joined_at, m.suspended_at IS NOT NULL AS is_suspended,
             {MEMBER_NAME}
    FROM     (SELECT   user_id
              FROM     directory_group_members
              WHERE    organization_id = %(organization_id)s AND group_id = %(group_id)s
                AND    (%(after)s::uuid IS NULL OR user_id > %(after)s)
              ORDER BY user_id
              LIMIT    %(limit)s OFFSET %(offset)s) AS p
    JOIN     memberships m ON m.organization_id = %(organization_id)s AND m.user_id = p.user_id
    JOIN     users u ON u.id = m.user_id
    ORDER BY m.user_id
"""


# A token that has expired is as gone as one that was revoked. Most organizations have no groups; of the others, one row
# of each is looked at.
LEFT: Final = """
    WITH RECURSIVE owners (organization_id) AS (
        (SELECT organization_id FROM directory_groups ORDER BY organization_id LIMIT 1)
        UNION ALL
        SELECT (SELECT g.organization_id FROM directory_groups g
                WHERE  g.organization_id > h.organization_id
                ORDER BY g.organization_id
                LIMIT  1)
        FROM   owners h
        WHERE  h.organization_id IS NOT NULL)
    SELECT h.organization_id
    FROM   owners h
    WHERE  h.organization_id IS NOT NULL
      AND  (%(organization_id)s::uuid IS NULL OR h.organization_id = %(organization_id)s)
      AND  NOT EXISTS (SELECT FROM scim_tokens t
                       WHERE  t.organization_id = h.organization_id AND t.groups = 'directory'
                         AND  (t.expires_at IS NULL OR t.expires_at >= %(before)s))
      AND  NOT EXISTS (SELECT FROM directory_ends e
                       WHERE  e.organization_id = h.organization_id AND e.ended_at >= %(before)s)
    LIMIT  1
"""


class PostgresDirectoryGroups(Aggregate):
    """The port `DirectoryGroups`."""

    def page(self, organization_id: UUID, wanted: GroupSearch, *, limit: int, offset: int) -> GroupsPage:
        if wanted.is_impossible:
            return GroupsPage(groups=[], total=0)
        groups, total = self._page_of(
            Group,
            PAGE,
            {
                "organization_id": organization_id,
                "display_name": wanted.display_name,
                "external_id": wanted.external_id,
                "group_id": wanted.group_id,
                "member_ids": list(wanted.member_ids),
                "limit": limit,
                "offset": offset,
            },
            prepare=False,
        )
        return GroupsPage(groups=groups, total=total)

    def find(self, organization_id: UUID, group_id: UUID) -> Group | None:
        return self._one(
            Group, f"{_GROUP} AND g.id = %(group_id)s", {"organization_id": organization_id, "group_id": group_id}
        )

    def known_members(self, organization_id: UUID, group_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[UUID]]:
        rows = self._connection.cursor(binary=True).execute(
            """
            SELECT    i.group_id, coalesce(k.known_id, i.user_id)
            FROM      directory_group_members i
            LEFT JOIN known_account_ids k ON k.organization_id = i.organization_id AND k.user_id = i.user_id
            WHERE     i.organization_id = %s AND i.group_id = ANY (%s)
            ORDER BY  i.group_id, i.user_id
            """,
            (organization_id, list(group_ids)),
        )
        found: dict[UUID, list[UUID]] = {}
        for group_id, known_id in rows.fetchall():
            found.setdefault(group_id, []).append(known_id)
        return found

    def members(self, organization_id: UUID, group_id: UUID) -> Sequence[UUID]:
        return self._values(
            "SELECT user_id FROM directory_group_members WHERE organization_id = %s AND group_id = %s",
            (organization_id, group_id),
            binary=True,
        )

    def people(self, organization_id: UUID, group_id: UUID, *, limit: int, offset: int) -> Sequence[PersonInGroup]:
        return self._all(
            PersonInGroup,
            PEOPLE,
            {
                "organization_id": organization_id,
                "group_id": group_id,
                "after": None,
                "limit": limit,
                "offset": offset,
            },
        )

    def people_after(
        self, organization_id: UUID, group_id: UUID, *, after: Position | None, limit: int
    ) -> Sequence[PersonInGroup]:
        return self._all(
            PersonInGroup,
            PEOPLE,
            {
                "organization_id": organization_id,
                "group_id": group_id,
                "after": after.id if after is not None else None,
                "limit": limit,
                "offset": 0,
            },
        )

    def found(self, organization_id: UUID, *, part: str, after: Position | None, limit: int) -> Sequence[Group]:
        return self._all(
            Group,
            f"""
            {_GROUP}
              AND  (%(part)s = '' OR strpos(lower(g.display_name), lower(%(part)s)) > 0)
              AND  (%(after)s::uuid IS NULL OR g.id > %(after)s)
            ORDER BY g.id
            LIMIT  %(limit)s
            """,
            {
                "organization_id": organization_id,
                "part": part,
                "after": after.id if after is not None else None,
                "limit": limit,
            },
        )

    def count_found(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        return self._value(
            """
            SELECT count(*)
            FROM   (SELECT FROM directory_groups
                    WHERE  organization_id = %(organization_id)s
                      AND  (%(part)s = '' OR strpos(lower(display_name), lower(%(part)s)) > 0)
                    LIMIT  %(counted_max)s) AS counted
            """,
            {"organization_id": organization_id, "part": part, "counted_max": counted_max},
        )

    def count(self, organization_id: UUID) -> int:
        return self._value("SELECT count(*) FROM directory_groups WHERE organization_id = %s", (organization_id,))

    def is_taken(self, organization_id: UUID, group: Group) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM directory_groups
                           WHERE  organization_id = %(organization_id)s AND id <> %(id)s
                             AND  lower(display_name) = lower(%(display_name)s))
                OR EXISTS (SELECT FROM directory_groups
                           WHERE  organization_id = %(organization_id)s AND id <> %(id)s
                             AND  external_id = %(external_id)s)
            """,
            {
                "organization_id": organization_id,
                "id": group.id,
                "display_name": group.display_name,
                "external_id": group.external_id,
            },
        )

    def add(self, organization_id: UUID, group: Group) -> None:
        self._connection.execute_later(
            """
            INSERT INTO directory_groups (id, organization_id, display_name, external_id, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                group.id,
                organization_id,
                group.display_name,
                group.external_id,
                group.created_at,
                group.updated_at,
            ),
        )

    def save(self, organization_id: UUID, group: Group, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE directory_groups
            SET    display_name = %s, external_id = %s, changes = changes + 1, updated_at = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (group.display_name, group.external_id, at, organization_id, group.id),
        )

    def remove(self, organization_id: UUID, group_id: UUID) -> None:
        self._connection.execute_later(
            """
            WITH silent AS (
                UPDATE services SET group_claims = array_remove(group_claims, %(group_id)s::text)
                WHERE  organization_id = %(organization_id)s AND %(group_id)s::text = ANY (group_claims))
            DELETE FROM directory_groups WHERE organization_id = %(organization_id)s AND id = %(group_id)s
            """,
            {"organization_id": organization_id, "group_id": group_id},
        )

    def remove_all(self, organization_id: UUID) -> Sequence[UUID]:
        return self._values(
            """
            WITH silent AS (
                UPDATE services SET group_claims = '{}'
                WHERE  organization_id = %(organization_id)s AND group_claims <> '{}' AND group_claims <> '{all}')
            DELETE FROM directory_groups WHERE organization_id = %(organization_id)s RETURNING id
            """,
            {"organization_id": organization_id},
        )

    def left(self, *, before: datetime, organization_id: UUID | None = None) -> UUID | None:
        return self._value_or_none(LEFT, {"before": before, "organization_id": organization_id})

    def authorities(self, organization_id: UUID) -> Mapping[UUID, Authority]:
        return dict(
            self._all(
                _authority,
                "SELECT id, maker_role, maker_permissions FROM directory_authorities WHERE organization_id = %s",
                (organization_id,),
            )
        )

    def add_authority(self, organization_id: UUID, authority_id: UUID, authority: Authority) -> None:
        self._connection.execute_later(
            """
            INSERT INTO directory_authorities (id, organization_id, maker_role, maker_permissions)
            VALUES (%s, %s, %s, %s)
            """,
            (authority_id, organization_id, authority.role, authority.permissions),
        )

    def add_members(
        self,
        organization_id: UUID,
        group_id: UUID,
        user_ids: Sequence[UUID],
        authority_id: UUID,
        *,
        instead_of: Sequence[UUID],
    ) -> Sequence[UUID]:
        return self._values(
            """
            WITH raised AS (
                     UPDATE directory_group_members
                     SET    authority_id = %(authority_id)s
                     WHERE  organization_id = %(organization_id)s AND group_id = %(group_id)s
                       AND  user_id = ANY (%(user_ids)s) AND authority_id = ANY (%(instead_of)s))
            INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)
            SELECT %(organization_id)s, %(group_id)s, user_id, %(authority_id)s
            FROM   unnest(%(user_ids)s::uuid[]) AS user_id
            ON     CONFLICT (group_id, user_id) DO NOTHING
            RETURNING user_id
            """,
            {
                "organization_id": organization_id,
                "group_id": group_id,
                "user_ids": list(user_ids),
                "authority_id": authority_id,
                "instead_of": list(instead_of),
            },
            binary=True,
        )

    def remove_members(self, organization_id: UUID, group_id: UUID, user_ids: Sequence[UUID]) -> Sequence[UUID]:
        return self._values(
            """
            DELETE FROM directory_group_members
            WHERE  organization_id = %s AND group_id = %s AND user_id = ANY (%s)
            RETURNING user_id
            """,
            (organization_id, group_id, list(user_ids)),
            binary=True,
        )


def _authority(*, id: UUID, maker_role: str | None, maker_permissions: list[str] | None) -> tuple[UUID, Authority]:  # noqa: A002 - the name of the column
    return id, Authority(role=maker_role, permissions=maker_permissions)
