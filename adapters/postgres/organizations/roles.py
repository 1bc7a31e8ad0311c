"""Custom roles in their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.access import Capability
from core.organizations.roles import Role, RoleHolders

# Built-in roles are not stored.
_COMPUTED: Final = ("is_built_in",)
_ROLE: Final = f"SELECT {columns(Role, without=_COMPUTED)} FROM organization_roles"


class PostgresRoles(Aggregate):
    """The port `Roles`."""

    def of_organization(self, organization_id: UUID) -> Sequence[Role]:
        return self._all(
            _role,
            f"{_ROLE} WHERE organization_id = %s ORDER BY slug",
            (organization_id,),
        )

    def by_slug(self, organization_id: UUID, slug: str) -> Role | None:
        return self._one(
            _role,
            f"{_ROLE} WHERE organization_id = %s AND slug = %s",
            (organization_id, slug),
        )

    def add(self, organization_id: UUID, role: Role) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO organization_roles ({columns(Role, without=_COMPUTED)}, organization_id)
            VALUES ({placeholders(Role, without=_COMPUTED)}, %(organization_id)s)
            """,
            values(role) | {"organization_id": organization_id},
        )

    def save(self, organization_id: UUID, role: Role) -> None:
        self._connection.execute_later(
            f"""
            UPDATE organization_roles
            SET    {assignments(Role, without=(*_COMPUTED, "slug", "created_at"))}
            WHERE  organization_id = %(organization_id)s AND slug = %(slug)s
            """,
            values(role) | {"organization_id": organization_id},
        )

    def holders(self, organization_id: UUID, slugs: Sequence[str], *, counted_max: int) -> Mapping[str, RoleHolders]:
        return dict(
            self._all(
                _held,
                """
                SELECT r.slug,
                       (SELECT count(*)
                        FROM   (SELECT FROM memberships m
                                WHERE  m.organization_id = %(organization_id)s AND m.role = r.slug
                                LIMIT  %(counted_max)s) counted) AS members,
                       (SELECT count(*)
                        FROM   (SELECT FROM invitations i
                                WHERE  i.organization_id = %(organization_id)s AND i.status = 'pending'
                                  AND  i.role = r.slug
                                LIMIT  %(counted_max)s) counted) AS invitations
                FROM   unnest(%(slugs)s::text[]) AS r (slug)
                """,
                {"organization_id": organization_id, "slugs": list(slugs), "counted_max": counted_max},
            )
        )

    def is_in_use(self, organization_id: UUID, slug: str) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM memberships WHERE organization_id = %(organization_id)s AND role = %(slug)s)
                OR EXISTS (SELECT FROM invitations
                           WHERE  organization_id = %(organization_id)s AND role = %(slug)s AND status = 'pending')
                OR EXISTS (SELECT FROM group_rules WHERE organization_id = %(organization_id)s AND role = %(slug)s)
            """,
            {"organization_id": organization_id, "slug": slug},
        )

    def remove(self, organization_id: UUID, slug: str) -> None:
        # A role that is made later under the same slug is given by no setup link of before.
        self._connection.execute_later(
            """
            WITH silent AS (
                UPDATE setup_links SET roles = array_remove(roles, %(slug)s)
                WHERE  organization_id = %(organization_id)s AND %(slug)s = ANY (roles))
            DELETE FROM organization_roles WHERE organization_id = %(organization_id)s AND slug = %(slug)s
            """,
            {"organization_id": organization_id, "slug": slug},
        )


def _role(*, permissions: list[str], **columns: Any) -> Role:
    return Role(permissions=[Capability(permission) for permission in permissions], is_built_in=False, **columns)


def _held(*, slug: str, **counted: int) -> tuple[str, RoleHolders]:
    return slug, RoleHolders(**counted)
