"""Members as SCIM users, in the tables of memberships, accounts and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from adapters.postgres import affiliations
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.scim.user_filters import IS_ACTIVE, UPDATED_AT, is_simple, written
from adapters.postgres.transaction import Aggregate
from core.scim.user_filters import Condition
from core.scim.users import DirectoryProfile, StoredUser, StoredUsersPage

if TYPE_CHECKING:
    from core.deferred import Deferred

_COLUMNS: Final = f"""
    coalesce(k.known_id, m.user_id), m.user_id, m.id, u.email, m.role, {IS_ACTIVE}, m.created_at, {UPDATED_AT},
    {columns(DirectoryProfile, table="p")}
"""
_KNOWN: Final = """
    LEFT JOIN known_account_ids k ON k.organization_id = m.organization_id AND k.user_id = m.user_id
"""
_MEMBERS: Final = f"""
    FROM      memberships m
    JOIN      users u         ON u.id = m.user_id
    LEFT JOIN scim_profiles p ON p.organization_id = m.organization_id AND p.user_id = m.user_id
    {_KNOWN}
    WHERE     m.organization_id = %s
"""
# One after the other, so that each is read by a key for the few members of a page.
_OF_PAGE: Final = f"""
    LEFT JOIN memberships m   ON m.id = page.id
    LEFT JOIN users u         ON u.id = m.user_id
    LEFT JOIN scim_profiles p ON p.organization_id = m.organization_id AND p.user_id = m.user_id
    {_KNOWN}
    ORDER BY  page.created_at, page.id
"""
# At least one row, for the total. The page is found in an index alone, before anything else is read.
_TOTAL: Final = """
    WITH own (organization_id) AS MATERIALIZED (
             SELECT organization_id FROM scim_tokens WHERE prefix = %(prefix)s AND token_hash = %(token_hash)s)
    SELECT coalesce((SELECT members
                     FROM   membership_totals
                     WHERE  organization_id = (SELECT organization_id FROM own)), 0),
"""
_OLDEST: Final = """
    FROM      (VALUES (0)) AS one
    LEFT JOIN (SELECT   id, created_at
               FROM     memberships
               WHERE    organization_id = (SELECT organization_id FROM own)
               ORDER BY created_at, id
               LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
"""
PAGE: Final = f"{_TOTAL} {_COLUMNS} {_OLDEST} {_OF_PAGE}"
_COUNTED: Final = "SELECT (SELECT count(*) FROM matched),"
_MATCHED: Final = """
    FROM      (VALUES (0)) AS one
    LEFT JOIN (SELECT id, created_at FROM matched ORDER BY created_at, id LIMIT %s OFFSET %s) AS page ON true
"""
FIND: Final = f"SELECT 1, {_COLUMNS} {_MEMBERS} AND m.user_id = {affiliations.ACCOUNT}"
FIND_ACCOUNT: Final = f"SELECT 1, {_COLUMNS} {_MEMBERS} AND m.user_id = %s"


class PostgresScimUsers(Aggregate):
    """The port `ScimUsers`."""

    def defer_page_of_token(self, *, limit: int, offset: int) -> Deferred[StoredUsersPage]:
        token = self._transaction.scim_token
        assert token is not None, "a page of a token was requested without one"
        # In binary format, because ids and times cost less to convert on both sides.
        rows = self._connection.cursor(binary=True).defer(
            PAGE, {"prefix": token.prefix, "token_hash": token.token_hash, "limit": limit, "offset": offset}
        )
        return lambda: _page(rows.fetchall())

    def matching(self, organization_id: UUID, condition: Condition, *, limit: int, offset: int) -> StoredUsersPage:
        text, filtered = written(condition, organization_id)
        matched: LiteralString = f"SELECT m.id, m.created_at {_MEMBERS} AND {text}"
        rows = self._connection.cursor(binary=True).execute(
            f"WITH matched AS ({matched}) {_COUNTED} {_COLUMNS} {_MATCHED} {_OF_PAGE}",
            [organization_id, *filtered, limit, offset],
            # There are as many other texts as filters, and each would displace one of ours among the prepared ones.
            prepare=is_simple(condition),
        )
        return _page(rows.fetchall())

    def find(self, organization_id: UUID, known_id: UUID) -> StoredUser | None:
        named = (organization_id, organization_id, known_id, known_id)
        row = self._connection.cursor(binary=True).execute(FIND, named).fetchone()
        return _stored(row) if row is not None else None

    def find_account(self, organization_id: UUID, user_id: UUID) -> StoredUser | None:
        row = self._connection.cursor(binary=True).execute(FIND_ACCOUNT, (organization_id, user_id)).fetchone()
        return _stored(row) if row is not None else None

    def is_name_taken(self, organization_id: UUID, user_name: str, *, except_user_id: UUID | None) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM scim_profiles
                           WHERE  organization_id = %s AND lower(user_name) = lower(%s)
                             AND  user_name NOT LIKE '%%@%%' AND user_id IS DISTINCT FROM %s)
            """,
            (organization_id, user_name, except_user_id),
        )

    def save(self, organization_id: UUID, user_id: UUID, profile: DirectoryProfile) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO scim_profiles ({columns(DirectoryProfile)}, organization_id, user_id, updated_at)
            VALUES ({placeholders(DirectoryProfile)}, %(organization_id)s, %(user_id)s, %(now)s)
            ON CONFLICT (organization_id, user_id) DO UPDATE
            SET {assignments(DirectoryProfile)}, updated_at = %(now)s
            """,
            values(profile) | {"organization_id": organization_id, "user_id": user_id, "now": self._transaction.now},
        )

    def set_suspended(self, organization_id: UUID, user_id: UUID, *, at: datetime | None) -> None:
        self._connection.execute_later(
            "UPDATE memberships SET suspended_at = %s WHERE organization_id = %s AND user_id = %s",
            (at, organization_id, user_id),
        )

    def delete_sign_ins(self, organization_id: UUID, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            DELETE FROM login_events
            WHERE  organization_id = %s AND service_id IS NULL AND user_id = %s AND organization_id <> user_id
            """,
            (organization_id, user_id),
        )


def _page(rows: Sequence[tuple[Any, ...]]) -> StoredUsersPage:
    # An empty page has one row without a user.
    return StoredUsersPage(users=[_stored(row) for row in rows if row[1] is not None], total=rows[0][0])


# By position rather than by name, because this runs for every row of a list that is requested often.
def _stored(row: tuple[Any, ...]) -> StoredUser:
    _, known_id, user_id, membership_id, email, role, is_active, created_at, updated_at, user_name, *described = row
    external_id, formatted_name, given_name, family_name, display_name, is_primary, *made = described
    return StoredUser(
        id=known_id,
        user_id=user_id,
        membership_id=membership_id,
        email=email,
        role=role,
        is_active=is_active,
        created_at=created_at,
        updated_at=updated_at,
        profile=DirectoryProfile(
            user_name=user_name,
            external_id=external_id,
            formatted_name=formatted_name,
            given_name=given_name,
            family_name=family_name,
            display_name=display_name,
            is_primary=is_primary,
            made_given_name=made[0],
            made_family_name=made[1],
        )
        if user_name is not None
        else None,
    )
