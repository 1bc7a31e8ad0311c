"""Services as OAuth clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.services.services import SELECT_SERVICE, service_row
from adapters.postgres.transaction import Aggregate
from core.openid.clients import Client

# A browser loads no more pages than this before it goes on.
PAGES_MAX: Final = 20
FIND: Final = f"""
    {SELECT_SERVICE}, o.slug AS organization_slug, o.status = 'active' AS is_organization_active,
           s.client_secret_hash AS secret_hash, s.previous_secret_hash
    FROM   services s
    JOIN   organizations o ON o.id = s.organization_id AND o.status <> 'deleting'
    WHERE  s.client_id = %s
"""
_WITH_PAGE: Final = """
    SELECT c.id, s.frontchannel_logout_uri
    FROM   sessions c
    JOIN   services s ON s.organization_id = c.organization_id AND s.id = c.service_id
    WHERE  c.revoked_at IS NULL AND s.frontchannel_logout_uri IS NOT NULL
"""


class PostgresClients(Aggregate):
    """The port `Clients`."""

    def find(self, client_id: UUID) -> Client | None:
        return self._one(client_row, FIND, (client_id,))

    def audience_among(self, candidates: Sequence[str], organization_id: UUID | None) -> str | None:
        found = self._values(
            """
            SELECT   a.audience
            FROM     service_audiences a
            JOIN     organizations o ON o.id = a.organization_id
            WHERE    a.audience = ANY (%(candidates)s) AND o.status = 'active'
              AND    (%(organization_id)s::uuid IS NULL OR a.organization_id = %(organization_id)s)
            ORDER BY array_position(%(candidates)s, a.audience)
            """,
            {"candidates": list(candidates), "organization_id": organization_id},
        )
        return next(iter(found), None)

    def is_organization_known_to(self, organization_id: UUID, user_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM memberships
                           WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s
                             AND  confirmed_at IS NOT NULL AND suspended_at IS NULL)
                -- A link that the organization made, and its user never used, does not count.
                OR EXISTS (SELECT FROM service_users
                           WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s
                             AND  last_login_at IS NOT NULL)
            """,
            {"organization_id": organization_id, "user_id": user_id},
        )

    def is_child(self, session_id: UUID, *, parent_id: UUID) -> bool:
        return self._finds_any(
            "SELECT FROM sessions WHERE id = %s AND parent_id = %s AND revoked_at IS NULL", (session_id, parent_id)
        )

    def children_with_pages(self, parent_id: UUID) -> Mapping[UUID, str]:
        text = f"{_WITH_PAGE} AND c.parent_id = %s ORDER BY c.created_at DESC LIMIT %s"
        return dict(self._connection.execute(text, (parent_id, PAGES_MAX)).fetchall())

    def with_page(self, session_id: UUID) -> Mapping[UUID, str]:
        return dict(self._connection.execute(f"{_WITH_PAGE} AND c.id = %s", (session_id,)).fetchall())


def client_row(
    *,
    organization_slug: str,
    is_organization_active: bool,
    secret_hash: bytes | None,
    previous_secret_hash: bytes | None,
    **service: Any,
) -> Client:
    """Return the client of a row with the columns of `FIND`."""
    return Client(
        service=service_row(**service),
        organization_slug=organization_slug,
        is_organization_active=is_organization_active,
        secret_hash=secret_hash,
        previous_secret_hash=previous_secret_hash,
    )
