"""Custom roles in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.organizations.access import Capability
from core.organizations.roles import Role

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class PostgresRoles(Aggregate):
    """The port `Roles`."""

    def of_organization(self, organization_id: UUID) -> Sequence[Role]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_role))
            .execute(
                """
                SELECT   slug, name, description, permissions, created_at, updated_at
                FROM     organization_roles
                WHERE    organization_id = %s
                ORDER BY slug
                """,
                (organization_id,),
            )
            .fetchall()
        )

    def by_slug(self, organization_id: UUID, slug: str) -> Role | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_role))
            .execute(
                """
                SELECT slug, name, description, permissions, created_at, updated_at
                FROM   organization_roles
                WHERE  organization_id = %s AND slug = %s
                """,
                (organization_id, slug),
            )
            .fetchone()
        )

    def add(self, organization_id: UUID, role: Role) -> None:
        self._connection.execute_later(
            """
            INSERT INTO organization_roles (organization_id, slug, name, description, permissions, created_at,
                                            updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                organization_id,
                role.slug,
                role.name,
                role.description,
                [str(permission) for permission in role.permissions],
                role.created_at,
                role.updated_at,
            ),
        )

    def save(self, organization_id: UUID, role: Role) -> None:
        self._connection.execute_later(
            """
            UPDATE organization_roles
            SET    name = %s, description = %s, permissions = %s, updated_at = %s
            WHERE  organization_id = %s AND slug = %s
            """,
            (
                role.name,
                role.description,
                [str(permission) for permission in role.permissions],
                role.updated_at,
                organization_id,
                role.slug,
            ),
        )

    def is_in_use(self, organization_id: UUID, slug: str) -> bool:
        [is_in_use] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT EXISTS (SELECT FROM memberships WHERE organization_id = %(organization_id)s AND role = %(slug)s)
                    OR EXISTS (SELECT FROM invitations
                               WHERE  organization_id = %(organization_id)s AND role = %(slug)s AND status = 'pending')
                """,
                {"organization_id": organization_id, "slug": slug},
            )
            .fetchall()
        )
        return is_in_use

    def remove(self, organization_id: UUID, slug: str) -> None:
        self._connection.execute_later(
            "DELETE FROM organization_roles WHERE organization_id = %s AND slug = %s", (organization_id, slug)
        )


def _role(*, permissions: list[str], **columns: Any) -> Role:
    return Role(permissions=[Capability(permission) for permission in permissions], is_built_in=False, **columns)
