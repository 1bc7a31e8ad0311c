"""Setup links that vendors make for customers, in the table `setup_links`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.customers.setup_links import CustomerSetupLink

_COLUMNS: Final = """
    id, parts, return_url, reported_actor AS actor, created_by AS made_by, made_by_api_key, made_by_key, created_at,
    expires_at, last_used_at
"""


class PostgresCustomerSetupLinks(Aggregate):
    """The port `CustomerSetupLinks`."""

    def of_customer(self, internal_id: UUID) -> Sequence[CustomerSetupLink]:
        return self._all(
            CustomerSetupLink,
            f"""
            SELECT   {_COLUMNS}
            FROM     setup_links
            WHERE    organization_id = %s AND expires_at > %s
            ORDER BY created_at DESC, id DESC
            """,
            (internal_id, self._transaction.now),
        )

    def count_of_vendor(self, vendor_id: UUID) -> int:
        return self._value(
            """
            SELECT count(*)
            FROM   service_customers c
            JOIN   organizations i ON i.internal_of = c.id
            JOIN   setup_links l   ON l.organization_id = i.id
            WHERE  c.vendor_id = %s AND l.expires_at > %s
            """,
            (vendor_id, self._transaction.now),
        )

    def add(self, internal_id: UUID, link: CustomerSetupLink, *, secret_hash: bytes) -> None:
        self._connection.execute_later(
            """
            INSERT INTO setup_links (id, organization_id, parts, return_url, reported_actor, secret_hash, created_by,
                                     made_by_api_key, made_by_key, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                link.id,
                internal_id,
                link.parts,
                link.return_url,
                link.actor,
                secret_hash,
                link.made_by,
                link.made_by_api_key,
                link.made_by_key,
                link.created_at,
                link.expires_at,
            ),
        )

    def remove(self, internal_id: UUID, link_id: UUID) -> CustomerSetupLink | None:
        return self._one(
            CustomerSetupLink,
            f"DELETE FROM setup_links WHERE organization_id = %s AND id = %s RETURNING {_COLUMNS}",
            (internal_id, link_id),
        )
