"""API keys in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.prefixed_tokens import PrefixedToken
from core.services.api_keys import ApiKey, ApiKeysPage, ListedApiKey, Permission, ServiceCaller
from core.services.services import Service

CALLERS: Final = """
    SELECT k.id AS key_id, k.key_hash AS token_hash, k.permissions, k.created_by AS made_by, k.last_used_at,
           k.expires_at, s.id AS service_id, s.slug AS service_slug,
           o.id AS organization_id, o.status AS organization_status
    FROM   api_keys k
    JOIN   services s      ON s.organization_id = k.organization_id AND s.id = k.service_id
    JOIN   organizations o ON o.id = k.organization_id AND o.status <> 'deleting'
    WHERE  k.prefix = %s
"""
# At least one row, for the total.
PAGE: Final = f"""
    SELECT    total.keys AS total, page.*
    FROM      (SELECT count(*) AS keys
               FROM   api_keys
               WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s) AS total
    LEFT JOIN LATERAL (SELECT   {columns(ApiKey)}
                       FROM     api_keys
                       WHERE    organization_id = %(organization_id)s AND service_id = %(service_id)s
                       ORDER BY created_at DESC, id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.created_at DESC, page.id DESC
"""
OF_SERVICE: Final = f"""
    SELECT    {columns(ApiKey, table="k")}, u.email AS maker_email, o.name AS key_name
    FROM      api_keys k
    LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.created_by
    LEFT JOIN users u ON u.id = m.user_id
    LEFT JOIN organization_keys o ON o.organization_id = k.organization_id AND o.id = k.made_by_key
    WHERE     k.organization_id = %s AND k.service_id = %s
    ORDER BY  k.created_at DESC, k.id DESC
"""


class PostgresApiKeys(Aggregate):
    """The port `ApiKeys`."""

    def callers(self, key: PrefixedToken) -> Sequence[ServiceCaller]:
        return self._callers(ServiceCaller, CALLERS, (key.prefix,), binary=True)

    def record_use(self, caller: ServiceCaller, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE api_keys
            SET    last_used_at = %s
            WHERE  id = (SELECT id
                         FROM   api_keys
                         WHERE  organization_id = %s AND service_id = %s AND id = %s
                         FOR    NO KEY UPDATE SKIP LOCKED)
            """,
            (at, caller.organization_id, caller.service_id, caller.key_id),
        )

    def add(self, service: Service, key: ApiKey, *, key_hash: bytes) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO api_keys ({columns(ApiKey)}, organization_id, key_hash)
            VALUES ({placeholders(ApiKey)}, %(organization_id)s, %(key_hash)s)
            """,
            values(key) | {"organization_id": service.organization_id, "key_hash": key_hash},
        )

    def count(self, service: Service) -> int:
        return self._value(
            "SELECT count(*) FROM api_keys WHERE organization_id = %s AND service_id = %s",
            (service.organization_id, service.id),
        )

    def page(self, service: Service, *, limit: int, offset: int) -> ApiKeysPage:
        rows = self._rows(
            PAGE,
            {"organization_id": service.organization_id, "service_id": service.id, "limit": limit, "offset": offset},
        )
        totals = [row.pop("total") for row in rows]
        return ApiKeysPage(api_keys=[_key(**row) for row in rows if row["id"] is not None], total=totals[0])

    def of_service(self, service: Service) -> Sequence[ListedApiKey]:
        return self._all(_listed, OF_SERVICE, (service.organization_id, service.id))

    def find(self, service: Service, key_id: UUID) -> ApiKey | None:
        return self._one(
            _key,
            f"""
            SELECT {columns(ApiKey)}
            FROM   api_keys
            WHERE  organization_id = %s AND service_id = %s AND id = %s
            """,
            (service.organization_id, service.id, key_id),
        )

    def remove(self, service: Service, key_id: UUID) -> ApiKey | None:
        return self._one(
            _key,
            f"""
            DELETE FROM api_keys
            WHERE  organization_id = %s AND service_id = %s AND id = %s
            RETURNING {columns(ApiKey)}
            """,
            (service.organization_id, service.id, key_id),
        )


def _key(*, permissions: list[str], **columns: Any) -> ApiKey:
    return ApiKey(permissions=[Permission(permission) for permission in permissions], **columns)


def _listed(*, maker_email: str | None, key_name: str | None, **columns: Any) -> ListedApiKey:
    return ListedApiKey(key=_key(**columns), maker_email=maker_email, key_name=key_name)
