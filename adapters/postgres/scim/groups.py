"""Organizations as groups: their memberships, and the totals that a trigger keeps of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import FIRST_ID
from core.organizations.organizations import Membership
from core.parts import in_parts
from core.scim.group_resources import ID_IN_FORM, Group
from core.scim.groups import GroupMember
from core.scim.kept_members import NamedMember
from core.scim.users import NewMember

FIND: Final = """
    SELECT    o.id, o.name AS display_name, o.created_at, greatest(o.updated_at, t.changed_at) AS updated_at,
              coalesce(t.members, 0) AS member_count, coalesce(t.changes, 0) AS changes
    FROM      organizations o
    LEFT JOIN membership_totals t ON t.organization_id = o.id
    WHERE     o.id = %s
"""
MEMBERS: Final = """
    SELECT    string_agg(replace(%(member_form)s, %(id_in_form)s, coalesce(k.known_id, m.user_id)::text), ','
                         ORDER BY m.created_at, m.id)
    FROM      (SELECT   organization_id, user_id, created_at, id
               FROM     memberships
               WHERE    organization_id = %(organization_id)s
               ORDER BY created_at, id
               LIMIT    %(members_max)s) AS m
    LEFT JOIN known_account_ids k ON k.organization_id = m.organization_id AND k.user_id = m.user_id
"""
_MEMBER: Final = """
    SELECT user_id, role
    FROM   memberships
"""

# One that this organization has deactivated is activated when it becomes a member.
_ACCOUNTS: Final = """
    SELECT   u.id, u.email, u.email_verified_at IS NOT NULL AS is_verified,
             u.deactivated_at IS NULL OR coalesce(u.deactivated_by_organization_id = %(organization_id)s, false)
                 AS is_active,
             EXISTS (SELECT FROM sessions WHERE user_id = u.id AND revoked_at IS NULL) AS has_sessions
    FROM     users u
"""


class PostgresScimGroups(Aggregate):
    """The port `ScimGroups`."""

    def find(self, organization_id: UUID, *, member_form: str | None, members_max: int) -> Group | None:
        # Both statements in one round trip.
        header = self._defer_one(dict[str, Any], FIND, (organization_id,))
        members: str | None = None
        if member_form is not None:
            found = self._value_or_none(
                MEMBERS,
                {
                    "organization_id": organization_id,
                    "member_form": member_form,
                    "id_in_form": str(ID_IN_FORM),
                    "members_max": members_max,
                },
            )
            members = found or ""
        row = header()
        return Group(**row, members=members) if row is not None else None

    def among(self, organization_id: UUID, user_ids: Collection[UUID]) -> Sequence[GroupMember]:
        return [
            member
            for part in in_parts(user_ids)
            for member in self._all(
                GroupMember,
                f"{_MEMBER} WHERE organization_id = %s AND user_id = ANY (%s)",
                (organization_id, part),
                binary=True,
            )
        ]

    def members(self, organization_id: UUID, *, after: UUID | None, limit: int) -> Sequence[GroupMember]:
        return self._all(
            GroupMember,
            f"{_MEMBER} WHERE organization_id = %s AND user_id > %s ORDER BY user_id LIMIT %s",
            (organization_id, after or FIRST_ID, limit),
            binary=True,
        )

    def named(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[NamedMember]:
        return self._all(
            NamedMember,
            """
            SELECT    m.user_id, coalesce(k.known_id, m.user_id) AS known_id, u.email
            FROM      memberships m
            JOIN      users u ON u.id = m.user_id
            LEFT JOIN known_account_ids k ON k.organization_id = m.organization_id AND k.user_id = m.user_id
            WHERE     m.organization_id = %s AND m.user_id = ANY (%s)
            """,
            (organization_id, list(user_ids)),
        )

    def lock_known(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[NewMember]:
        return self._all(
            NewMember,
            f"""
            {_ACCOUNTS}
            WHERE    u.id = ANY (%(user_ids)s)
              AND    u.anonymized_at IS NULL
              AND    (u.created_by_organization_id = %(organization_id)s
                      OR EXISTS (SELECT FROM service_users s
                                 WHERE  s.organization_id = %(organization_id)s AND s.user_id = u.id))
            ORDER BY u.id FOR KEY SHARE OF u
            """,
            {"organization_id": organization_id, "user_ids": list(user_ids)},
            binary=True,
        )

    def lock_new(self, user_id: UUID) -> Sequence[NewMember]:
        # Not a list of one: PostgreSQL would plan that each time.
        return self._all(
            NewMember,
            f"{_ACCOUNTS} WHERE u.id = %(user_id)s FOR KEY SHARE OF u",
            {"organization_id": None, "user_id": user_id},
            binary=True,
        )

    def add(self, organization_id: UUID, memberships: Sequence[Membership]) -> None:
        self._connection.execute_later(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            SELECT added.id, %s, added.user_id, added.role, added.created_at
            FROM   unnest(%s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[])
                   AS added (id, user_id, role, created_at)
            """,
            (
                organization_id,
                [membership.id for membership in memberships],
                [membership.user_id for membership in memberships],
                [membership.role for membership in memberships],
                [membership.created_at for membership in memberships],
            ),
        )

    def remove(self, organization_id: UUID, user_ids: Sequence[UUID]) -> None:
        self._connection.execute_later(
            "DELETE FROM memberships WHERE organization_id = %s AND user_id = ANY (%s)",
            (organization_id, list(user_ids)),
        )

    def inviters_among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   DISTINCT invited_by
            FROM     invitations
            WHERE    organization_id = %s AND status = 'pending' AND invited_by = ANY (%s)
            ORDER BY invited_by
            """,
            (organization_id, list(user_ids)),
        )
