"""Authorization requests in the table `authorization_requests`."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.openid.requests import StoredRequest


class PostgresAuthorizationRequests(Aggregate):
    """The port `AuthorizationRequests`."""

    def add(self, id_hash: bytes, request: StoredRequest, *, expires_at: datetime) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO authorization_requests ({columns(StoredRequest)}, id_hash, created_at, expires_at)
            VALUES ({placeholders(StoredRequest)}, %(id_hash)s, %(now)s, %(expires_at)s)
            """,
            values(request)
            | {
                "parameters": Jsonb(dict(request.parameters)),
                "id_hash": id_hash,
                "now": self._transaction.now,
                "expires_at": expires_at,
            },
        )

    def open(
        self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, expires_at: datetime
    ) -> StoredRequest | None:
        return self._one(
            StoredRequest,
            """
            UPDATE authorization_requests
            SET    opened_at = coalesce(opened_at, %(now)s),
                   expires_at = CASE WHEN opened_at IS NULL THEN %(expires_at)s ELSE expires_at END
            WHERE  id_hash = %(id_hash)s AND organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  is_pushed AND used_at IS NULL AND expires_at > %(now)s
            RETURNING organization_id, service_id, is_pushed, parameters
            """,
            {
                "id_hash": id_hash,
                "organization_id": organization_id,
                "service_id": service_id,
                "expires_at": expires_at,
                "now": self._transaction.now,
            },
        )

    def use(self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, is_pushed: bool) -> StoredRequest | None:
        return self._one(
            StoredRequest,
            """
            UPDATE authorization_requests
            SET    used_at = %(now)s
            WHERE  id_hash = %(id_hash)s AND organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  is_pushed = %(is_pushed)s AND used_at IS NULL AND expires_at > %(now)s
            RETURNING organization_id, service_id, is_pushed, parameters
            """,
            {
                "id_hash": id_hash,
                "organization_id": organization_id,
                "service_id": service_id,
                "is_pushed": is_pushed,
                "now": self._transaction.now,
            },
        )

    def find(self, id_hash: bytes) -> tuple[UUID, StoredRequest] | None:
        return self._one(
            _waiting,
            """
            SELECT s.client_id, r.organization_id, r.service_id, r.is_pushed, r.parameters
            FROM   authorization_requests r
            JOIN   services s ON s.organization_id = r.organization_id AND s.id = r.service_id
            WHERE  r.id_hash = %s AND NOT r.is_pushed
            """,
            (id_hash,),
        )


def _waiting(*, client_id: UUID, **columns: Any) -> tuple[UUID, StoredRequest]:
    return client_id, StoredRequest(**columns)
