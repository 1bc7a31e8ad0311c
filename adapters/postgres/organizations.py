"""Organizations, memberships and services in their tables, as far as a sign-in needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import class_row, kwargs_row, scalar_row

from core.memberships import Membership
from core.organizations import Organization, OrganizationStatus
from core.services import Service, ServiceType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from adapters.postgres.pool import Connection


class PostgresOrganizations:
    """The port `Organizations`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_slug(self, slug: str) -> Organization | None:
        """Find an organization."""
        return (
            self._connection.cursor(row_factory=kwargs_row(_organization))
            .execute(
                """
                SELECT id, slug, name, status, tier_id, max_services, max_users, mfa_required, device_trust_days,
                       created_at, updated_at, approved_at, approved_by, rejected_at, rejection_reason, suspended_at,
                       suspension_reason
                FROM   organizations
                WHERE  slug = %s
                """,
                (slug,),
            )
            .fetchone()
        )


class PostgresMemberships:
    """The port `Memberships`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_user(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        """Find a person's membership in an organization."""
        return (
            self._connection.cursor(row_factory=class_row(Membership))
            .execute(
                """
                SELECT id, organization_id AS org_id, user_id, role, created_at
                FROM   memberships
                WHERE  organization_id = %s AND user_id = %s
                """,
                (organization_id, user_id),
            )
            .fetchone()
        )

    def organizations_of(self, user_id: UUID | None) -> Sequence[UUID]:
        """List the organizations that a person is a member of; nobody is of none."""
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute("SELECT organization_id FROM memberships WHERE user_id = %s ORDER BY organization_id", (user_id,))
            .fetchall()
        )


class PostgresServices:
    """The port `Services`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Find a service of an organization."""
        return (
            self._connection.cursor(row_factory=kwargs_row(_service))
            .execute(
                """
                SELECT id, organization_id, slug, name, service_type, client_id, redirect_uris, created_at
                FROM   services
                WHERE  organization_id = %s AND slug = %s
                """,
                (organization_id, slug),
            )
            .fetchone()
        )

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Remember that a person signed in with a service: the first time, and the last."""
        self._connection.execute(
            """
            INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
            VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (service_id, user_id) DO UPDATE SET last_login_at = excluded.last_login_at
            """,
            (service.id, service.organization_id, user_id, at, at),
        )


def _organization(*, status: str, **columns: Any) -> Organization:
    return Organization(status=OrganizationStatus(status), **columns)


def _service(*, service_type: str, **columns: Any) -> Service:
    return Service(service_type=ServiceType(service_type), **columns)
