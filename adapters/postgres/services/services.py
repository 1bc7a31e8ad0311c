"""Services and their end users in their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.services.services import Service, ServiceType

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class PostgresServices(Aggregate):
    """The port `Services`."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
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
        self._connection.execute_later(
            """
            INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
            VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (service_id, user_id) DO UPDATE SET last_login_at = excluded.last_login_at
            """,
            (service.id, service.organization_id, user_id, at, at),
        )

    def unlink_user(self, user_id: UUID, *, linked_since: datetime) -> None:
        self._connection.execute_later(
            "DELETE FROM service_users WHERE user_id = %s AND first_login_at >= %s", (user_id, linked_since)
        )


def _service(*, service_type: str, **columns: Any) -> Service:
    return Service(service_type=ServiceType(service_type), **columns)
