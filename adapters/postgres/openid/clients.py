"""Services as OAuth clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.services.services import SELECT_SERVICE, service_row
from adapters.postgres.transaction import Aggregate
from core.openid.clients import Client

if TYPE_CHECKING:
    from uuid import UUID

FIND: Final = f"""
    {SELECT_SERVICE}, o.slug AS organization_slug, o.status = 'active' AS is_organization_active,
           s.client_secret_hash AS secret_hash
    FROM   services s
    JOIN   organizations o ON o.id = s.organization_id
    WHERE  s.client_id = %s
"""


class PostgresClients(Aggregate):
    """The port `Clients`."""

    def find(self, client_id: UUID) -> Client | None:
        return self._connection.cursor(row_factory=kwargs_row(client_row)).execute(FIND, (client_id,)).fetchone()

    def is_confidential(self, organization_id: UUID, service_id: UUID) -> bool:
        found = self._connection.cursor(row_factory=scalar_row).execute(
            "SELECT service_type IN ('web', 'api') FROM services WHERE organization_id = %s AND id = %s",
            (organization_id, service_id),
        )
        return bool(found.fetchone())


def client_row(
    *, organization_slug: str, is_organization_active: bool, secret_hash: bytes | None, **service: Any
) -> Client:
    """Return the client of a row with the columns of `FIND`."""
    return Client(
        service=service_row(**service),
        organization_slug=organization_slug,
        is_organization_active=is_organization_active,
        secret_hash=secret_hash,
    )
