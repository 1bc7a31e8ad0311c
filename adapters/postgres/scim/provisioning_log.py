"""The provisioning log in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.driver.rows import dict_row, kwargs_row
from adapters.postgres.transaction import Aggregate
from core.scim.provisioning_log import ProvisioningEntry, ProvisioningPage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

# At least one row, for the total.
PAGE: Final = """
    SELECT    total.entries AS total, page.*
    FROM      (SELECT count(*) AS entries
               FROM   scim_log_entries
               WHERE  organization_id = %(organization_id)s) AS total
    LEFT JOIN LATERAL (SELECT   id, created_at, token_id, token_name, method, path, resource_id, user_name, status,
                                scim_type, detail
                       FROM     scim_log_entries
                       WHERE    organization_id = %(organization_id)s
                       ORDER BY id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.id DESC
"""
# Failures are looked for among that many entries: a directory without any has written thousands.
SCANNED_MAX: Final = 1_000
FAILURES: Final = """
    SELECT   recent.*
    FROM     (SELECT   id, created_at, token_id, token_name, method, path, resource_id, user_name, status, scim_type,
                       detail
              FROM     scim_log_entries
              WHERE    organization_id = %(organization_id)s
              ORDER BY id DESC
              LIMIT    %(scanned_max)s) AS recent
    WHERE    recent.status >= 400
    ORDER BY recent.id DESC
    LIMIT    %(limit)s
"""


class PostgresScimLog(Aggregate):
    """The port `ScimLog`."""

    def add(self, organization_id: UUID, entry: ProvisioningEntry) -> None:
        self._connection.execute_later(
            """
            INSERT INTO scim_log_entries (id, organization_id, created_at, token_id, token_name, method, path,
                                          resource_id, user_name, status, scim_type, detail)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                entry.id,
                organization_id,
                entry.created_at,
                entry.token_id,
                entry.token_name,
                entry.method,
                entry.path,
                entry.resource_id,
                entry.user_name,
                entry.status,
                entry.scim_type,
                entry.detail,
            ),
        )

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningEntry]:
        return (
            self._connection.cursor(row_factory=kwargs_row(ProvisioningEntry))
            .execute(FAILURES, {"organization_id": organization_id, "scanned_max": SCANNED_MAX, "limit": limit})
            .fetchall()
        )

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        rows = (
            self._connection.cursor(row_factory=dict_row)
            .execute(PAGE, {"organization_id": organization_id, "limit": limit, "offset": offset})
            .fetchall()
        )
        totals = [row.pop("total") for row in rows]
        return ProvisioningPage(
            entries=[ProvisioningEntry(**row) for row in rows if row["id"] is not None], total=totals[0]
        )
