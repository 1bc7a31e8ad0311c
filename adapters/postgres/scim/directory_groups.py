"""Groups of directories and their members; triggers keep the numbers of members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.ids import FIRST_ID
from core.organizations.authority import Authority
from core.organizations.takeover_credentials import KEPT_FOR
from core.positions import Position
from core.scim.directory_group_patches import GroupSearch
from core.scim.directory_groups import GroupsPage, PersonInGroup
from core.scim.group_resources import ID_IN_FORM, Group

_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
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


# A token that is too old to be of a takeover confirms a place that a young one has given, and ends its notes.
# Each member is found by the id and the place by the key, whatever the planner knows of tables that are being filled:
# `IS NOT DISTINCT FROM` keeps it from an index of the organization, in which it may expect a single row.
ADD_MEMBERS: Final = """
    WITH named AS MATERIALIZED (
             SELECT u.user_id, m.user_id AS member_id, i.authority_id, i.gives_products
             FROM   unnest(%(user_ids)s::uuid[]) AS u (user_id)
             LEFT   JOIN LATERAL (SELECT user_id
                                  FROM   memberships
                                  WHERE  user_id = u.user_id
                                    AND  organization_id IS NOT DISTINCT FROM %(organization_id)s
                                  OFFSET 0) AS m ON true
             LEFT   JOIN LATERAL (SELECT authority_id, gives_products
                                  FROM   directory_group_members
                                  WHERE  group_id = %(group_id)s AND user_id = u.user_id
                                    AND  organization_id IS NOT DISTINCT FROM %(organization_id)s
                                  OFFSET 0) AS i ON true),
         raised AS (
             UPDATE directory_group_members
             SET    authority_id = CASE WHEN authority_id = ANY (%(instead_of)s) THEN %(authority_id)s
                                        ELSE authority_id END,
                    gives_products = gives_products OR %(gives_products)s
             WHERE  organization_id = %(organization_id)s AND group_id = %(group_id)s
               AND  user_id = ANY (ARRAY(SELECT user_id
                                         FROM   named
                                         WHERE  authority_id = ANY (%(instead_of)s)
                                           OR   (%(gives_products)s AND NOT gives_products)))),
         added AS (
             INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id, gives_products)
             SELECT %(organization_id)s, %(group_id)s, member_id, %(authority_id)s, %(gives_products)s
             FROM   named
             WHERE  member_id IS NOT NULL AND authority_id IS NULL
             RETURNING user_id),
         noted AS (
             INSERT INTO recent_acts (organization_id, credential_id, act, object_id, user_id, authority_id,
                                      gives_products, done_at)
             SELECT %(organization_id)s, t.id, CASE WHEN named.authority_id IS NULL THEN 'put_in' ELSE 'raised' END,
                    %(group_id)s, named.member_id, named.authority_id, named.gives_products, %(now)s
             FROM   named, scim_tokens t
             WHERE  t.organization_id = %(organization_id)s AND t.id = %(token_id)s AND t.created_at > %(young_since)s
               AND  named.member_id IS NOT NULL
               AND  (named.authority_id IS NULL OR named.authority_id = ANY (%(instead_of)s)
                     OR (%(gives_products)s AND NOT named.gives_products))),
         confirmed AS (
             UPDATE recent_acts r
             SET    act = 'raised', authority_id = %(authority_id)s, gives_products = %(gives_products)s
             FROM   named, scim_tokens t
             WHERE  t.organization_id = %(organization_id)s AND t.id = %(token_id)s AND t.created_at <= %(young_since)s
               AND  r.organization_id = %(organization_id)s AND r.object_id = %(group_id)s AND r.act = 'put_in'
               AND  r.user_id = named.member_id)
    SELECT (SELECT count(*) FROM added), EXISTS (SELECT FROM named WHERE member_id IS NULL)
"""
REMOVE_MEMBERS: Final = """
    WITH removed AS (
             DELETE FROM directory_group_members
             WHERE  organization_id = %(organization_id)s AND group_id = %(group_id)s AND user_id = ANY (%(user_ids)s)
             RETURNING user_id, authority_id, gives_products),
         noted AS (
             INSERT INTO recent_acts (organization_id, credential_id, act, object_id, user_id, authority_id,
                                      gives_products, done_at)
             SELECT %(organization_id)s, t.id, 'taken_out', %(group_id)s, removed.user_id, removed.authority_id,
                    removed.gives_products, %(now)s
             FROM   removed, scim_tokens t
             WHERE  t.organization_id = %(organization_id)s AND t.id = %(token_id)s AND t.created_at > %(young_since)s),
         ended AS (
             DELETE FROM recent_acts r
             USING  scim_tokens t
             WHERE  t.organization_id = %(organization_id)s AND t.id = %(token_id)s AND t.created_at <= %(young_since)s
               AND  r.organization_id = %(organization_id)s AND r.object_id = %(group_id)s
               AND  r.user_id = ANY (%(user_ids)s))
    SELECT user_id FROM removed
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

    def members_in_form(self, organization_id: UUID, group_ids: Sequence[UUID], member_form: str) -> Mapping[UUID, str]:
        rows = self._connection.cursor(binary=True).execute(
            """
            SELECT    i.group_id,
                      string_agg(replace(%(member_form)s, %(id_in_form)s, coalesce(k.known_id, i.user_id)::text), ','
                                 ORDER BY i.user_id)
            FROM      directory_group_members i
            LEFT JOIN known_account_ids k ON k.organization_id = i.organization_id AND k.user_id = i.user_id
            WHERE     i.organization_id = %(organization_id)s AND i.group_id = ANY (%(group_ids)s)
            GROUP BY  i.group_id
            """,
            {
                "organization_id": organization_id,
                "group_ids": list(group_ids),
                "member_form": member_form,
                "id_in_form": str(ID_IN_FORM),
            },
        )
        return dict(rows.fetchall())

    def members(self, organization_id: UUID, group_id: UUID, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   user_id
            FROM     directory_group_members
            WHERE    organization_id = %s AND group_id = %s AND user_id > %s
            ORDER BY user_id
            LIMIT    %s
            """,
            (organization_id, group_id, after or FIRST_ID, limit),
            binary=True,
        )

    def people(
        self, organization_id: UUID, group_id: UUID, *, after: Position | None = None, limit: int, offset: int = 0
    ) -> Sequence[PersonInGroup]:
        return self._all(
            PersonInGroup,
            PEOPLE,
            {
                "organization_id": organization_id,
                "group_id": group_id,
                "after": after.id if after is not None else None,
                "limit": limit,
                "offset": offset,
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
            (group.id, organization_id, group.display_name, group.external_id, group.created_at, group.updated_at),
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
        if not self._transaction.may_delete(AgedRows.LEFT_DIRECTORIES):
            return None
        return self._value_or_none(LEFT, {"before": before, "organization_id": organization_id})

    def authorities(self, organization_id: UUID) -> Mapping[UUID, Authority]:
        return dict(
            self._all(
                _authority,
                """
                SELECT id, maker_role, maker_permissions, link_roles
                FROM   directory_authorities
                WHERE  organization_id = %s
                """,
                (organization_id,),
            )
        )

    def add_authority(self, organization_id: UUID, authority_id: UUID, authority: Authority) -> None:
        self._connection.execute_later(
            """
            INSERT INTO directory_authorities (id, organization_id, maker_role, maker_permissions, link_roles)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (authority_id, organization_id, authority.role, authority.permissions, authority.link_roles),
        )

    def forget_authorities(self, organization_id: UUID) -> bool:
        return self._finds_any(
            """
            DELETE FROM directory_authorities a
            WHERE  a.organization_id = %s
              AND  NOT EXISTS (SELECT FROM directory_group_members i
                               WHERE  i.organization_id = a.organization_id AND i.authority_id = a.id)
            """,
            (organization_id,),
        )

    def add_members(
        self,
        organization_id: UUID,
        group_id: UUID,
        user_ids: Sequence[UUID],
        authority_id: UUID,
        *,
        gives_products: bool,
        instead_of: Sequence[UUID],
        token_id: UUID,
    ) -> int | None:
        added, has_others = self._connection.execute(
            ADD_MEMBERS,
            {
                "organization_id": organization_id,
                "group_id": group_id,
                "user_ids": list(user_ids),
                "authority_id": authority_id,
                "gives_products": gives_products,
                "instead_of": list(instead_of),
                **self._noted_by(token_id),
            },
        ).fetchall()[0]
        return None if has_others else added

    def remove_members(
        self, organization_id: UUID, group_id: UUID, user_ids: Sequence[UUID], *, token_id: UUID
    ) -> Sequence[UUID]:
        noted = self._noted_by(token_id)
        if not self._transaction.may_delete(AgedRows.NOTED_ACTS):
            # Every token is young: its changes are recorded, and no record is deleted.
            noted["young_since"] = _LONG_AGO
        return self._values(
            REMOVE_MEMBERS,
            {"organization_id": organization_id, "group_id": group_id, "user_ids": list(user_ids), **noted},
            binary=True,
        )

    def _noted_by(self, token_id: UUID) -> dict[str, Any]:
        now = self._transaction.now
        return {"token_id": token_id, "young_since": now - KEPT_FOR, "now": now}


def _authority(
    *,
    id: UUID,  # noqa: A002 - the name of the column
    maker_role: str | None,
    maker_permissions: list[str] | None,
    link_roles: list[str] | None,
) -> tuple[UUID, Authority]:
    return id, Authority(role=maker_role, permissions=maker_permissions, link_roles=link_roles)
