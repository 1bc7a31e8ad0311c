"""Memberships in their table; the console's list of members is in `found_members.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP
from adapters.postgres.affiliations import DIRECTORY_NAME
from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.members import Member, MembersPage
from core.organizations.organizations import Membership, RoleSource

if TYPE_CHECKING:
    from core.deferred import Deferred

# What an unconfirmed membership does not show is its user's own name (`core/accounts/names.py`).
MEMBER_NAME: Final = f"""
    coalesce(CASE WHEN m.confirmed_at IS NOT NULL AND u.email_verified_at IS NOT NULL THEN u.name END,
             {DIRECTORY_NAME.format(organization_id="m.organization_id", user_id="m.user_id")}) AS name
"""
# Memberships are read from an index alone, so that rows before the page are never fetched. There is at least one row,
# for the total and the tier. With and without a role these are two statements, because one plan for both would use no
# index well. An unconfirmed membership does not show that its user is a platform owner. An index of the suspended ones
# tells who is, because the other index does not.
_COLUMNS: Final = f"""
    t.id IS NOT NULL AS has_tier, t.default_max_users AS tier_max_users,
    m.id, m.organization_id, m.user_id, m.role, m.created_at, u.email, {MEMBER_NAME},
    u.is_platform_owner AND m.confirmed_at IS NOT NULL AS is_platform_owner,
    (u.deactivated_at IS NULL OR m.confirmed_at IS NULL)
    AND NOT EXISTS (SELECT FROM memberships s
                    WHERE  s.organization_id = m.organization_id AND s.user_id = m.user_id
                      AND  s.suspended_at IS NOT NULL) AS is_active,
    r.role_source, r.role_group
"""
# An index has the few whose role a rule gave.
_RULED: Final = """
    LEFT JOIN memberships r ON r.organization_id = m.organization_id AND r.user_id = m.user_id
                           AND r.role_source IS NOT NULL
"""


def _page_of(members: LiteralString) -> LiteralString:
    return f"""
        SELECT    (SELECT count(*) FROM memberships WHERE {members}) AS total, {_COLUMNS}
        FROM      (VALUES (0)) AS one
        LEFT JOIN tiers t ON t.id = (SELECT tier_id FROM organizations WHERE id = %(organization_id)s)
        LEFT JOIN (SELECT   id, organization_id, user_id, role, created_at, confirmed_at
                   FROM     memberships
                   WHERE    {members}
                   ORDER BY created_at, id
                   LIMIT    %(limit)s OFFSET %(offset)s) AS m ON true
        LEFT JOIN users u ON u.id = m.user_id
        {_RULED}
        ORDER BY  m.created_at, m.id
    """


PAGE_OF_ALL: Final = _page_of("organization_id = %(organization_id)s")
PAGE_OF_ROLE: Final = _page_of("organization_id = %(organization_id)s AND role = %(role)s")


class PostgresMembers(Aggregate):
    """The port `Members`."""

    def of_user(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        return self._one(
            Membership,
            f"SELECT {columns(Membership)} FROM memberships WHERE organization_id = %s AND user_id = %s",
            (organization_id, user_id),
        )

    def organizations_of(self, user_id: UUID | None) -> Sequence[UUID]:
        return self.defer_organizations_of(user_id)()

    def defer_organizations_of(self, user_id: UUID | None) -> Deferred[Sequence[UUID]]:
        return self._defer_values(
            f"""
            SELECT   organization_id
            FROM     memberships m
            WHERE    user_id = %s AND {IS_MEMBERSHIP} AND confirmed_at IS NOT NULL AND suspended_at IS NULL
              AND    NOT EXISTS (SELECT FROM organizations WHERE id = m.organization_id AND status = 'deleting')
            ORDER BY organization_id
            """,
            (user_id,),
        )

    def of_account(self, user_id: UUID) -> Sequence[Membership]:
        return self._all(
            Membership,
            f"SELECT {columns(Membership)} FROM memberships WHERE user_id = %s ORDER BY organization_id",
            (user_id,),
        )

    def all_organizations_of(self, user_id: UUID) -> Sequence[UUID]:
        return self._values(
            "SELECT organization_id FROM memberships WHERE user_id = %s ORDER BY organization_id", (user_id,)
        )

    def unconfirmed_organizations_of(self, user_id: UUID) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   organization_id
            FROM     memberships
            WHERE    user_id = %s AND confirmed_at IS NULL AND role <> 'owner'
            ORDER BY organization_id
            """,
            (user_id,),
        )

    def page(self, organization_id: UUID, *, role: str | None, limit: int, offset: int) -> MembersPage:
        # In binary format, because ids and times cost less to convert on both sides.
        rows = self._connection.cursor(binary=True).execute(
            PAGE_OF_ALL if role is None else PAGE_OF_ROLE,
            {"organization_id": organization_id, "role": role, "limit": limit, "offset": offset},
        )
        return _page(rows.fetchall())

    def find(self, organization_id: UUID, user_id: UUID) -> Member | None:
        return self._one(
            _member,
            f"""
            SELECT {columns(Membership, table="m")},
                   u.email, {MEMBER_NAME}, u.is_platform_owner,
                   (u.deactivated_at IS NULL OR m.confirmed_at IS NULL) AND m.suspended_at IS NULL AS is_active,
                   m.role_source, m.role_group
            FROM   memberships m
            JOIN   users u ON u.id = m.user_id
            WHERE  m.organization_id = %s AND m.user_id = %s
            """,
            (organization_id, user_id),
        )

    def owner_email(self, organization_id: UUID) -> str:
        return self._value(
            """
            SELECT u.email
            FROM   memberships m
            JOIN   users u ON u.id = m.user_id
            WHERE  m.organization_id = %s AND m.role = 'owner'
            """,
            (organization_id,),
        )

    def defer_count(self, organization_id: UUID) -> Deferred[int]:
        return self._defer_value_or_none(
            "SELECT coalesce((SELECT members FROM membership_totals WHERE organization_id = %s), 0)", (organization_id,)
        )

    def defer_count_with_admitted(self, organization_id: UUID) -> Deferred[int]:
        return self._defer_value_or_none(
            """
            SELECT coalesce(sum(t.members), 0)::bigint
            FROM   membership_totals t
            WHERE  t.organization_id = %(organization_id)s
               OR  t.organization_id = ANY (ARRAY(SELECT i.id
                                                  FROM   service_customers c
                                                  JOIN   organizations i ON i.internal_of = c.id
                                                  WHERE  c.vendor_id = %(organization_id)s))
            """,
            {"organization_id": organization_id},
        )

    def lock_admissions(self, organization_id: UUID) -> None:
        self._connection.execute_later(
            "SELECT pg_advisory_xact_lock(hashtextextended('admitted people ' || %s, 0))", (organization_id,)
        )

    def is_suspended(self, organization_id: UUID, user_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM memberships
                           WHERE  organization_id = %s AND user_id = %s AND suspended_at IS NOT NULL)
            """,
            (organization_id, user_id),
        )

    def defer_add(self, membership: Membership, *, is_confirmed: bool) -> Deferred[bool]:
        return self._defer_changes_one(
            f"""
            INSERT INTO memberships ({columns(Membership)}, confirmed_at)
            VALUES ({placeholders(Membership)}, %(confirmed_at)s)
            ON CONFLICT (organization_id, user_id) DO NOTHING
            """,
            values(membership) | {"confirmed_at": membership.created_at if is_confirmed else None},
        )

    def unconfirmed(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        return self._one(
            Membership,
            f"""
            SELECT {columns(Membership)}
            FROM   memberships
            WHERE  organization_id = %s AND user_id = %s AND confirmed_at IS NULL
              AND  role <> 'owner'
            """,
            (organization_id, user_id),
        )

    def confirm(self, organization_id: UUID, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE memberships
            SET    confirmed_at = %s
            WHERE  organization_id = %s AND user_id = %s AND confirmed_at IS NULL
            """,
            (self._transaction.now, organization_id, user_id),
        )

    def set_role(self, organization_id: UUID, user_ids: Sequence[UUID], role: str) -> None:
        self._connection.execute_later(
            """
            UPDATE memberships
            SET    role = %s, role_source = NULL, role_group = NULL
            WHERE  organization_id = %s AND user_id = ANY (%s)
            """,
            (role, organization_id, list(user_ids)),
        )

    def remove(self, organization_id: UUID, user_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM memberships WHERE organization_id = %s AND user_id = %s", (organization_id, user_id)
        )


def _page(rows: Sequence[tuple[Any, ...]]) -> MembersPage:
    total, has_tier, tier_max_users, first_id, *_ = rows[0]
    return MembersPage(
        # An empty page has one row without a member.
        members=[] if first_id is None else [_listed(row) for row in rows],
        total=total,
        has_tier=has_tier,
        tier_max_users=tier_max_users,
    )


# By position rather than by name, because this runs for every row of the list that is requested most.
def _listed(row: tuple[Any, ...]) -> Member:
    membership_id, organization_id, user_id, role, created_at, email, name, *others = row[3:]
    is_platform_owner, is_active, role_source, role_group = others
    return Member(
        membership=Membership(
            id=membership_id, organization_id=organization_id, user_id=user_id, role=role, created_at=created_at
        ),
        email=email,
        name=name,
        is_platform_owner=is_platform_owner,
        is_active=is_active,
        role_source=_source(role_source, role_group),
    )


def _source(role_source: str | None, role_group: str | None) -> RoleSource | None:
    if role_source is None or role_group is None:
        return None
    return RoleSource(source=role_source, group=role_group)


def _member(*, email: str, name: str | None, is_platform_owner: bool, is_active: bool, **columns: Any) -> Member:
    return Member(
        membership=Membership(**{name: columns[name] for name in Membership.__dataclass_fields__}),
        email=email,
        name=name,
        is_platform_owner=is_platform_owner,
        is_active=is_active,
        role_source=_source(columns["role_source"], columns["role_group"]),
    )
