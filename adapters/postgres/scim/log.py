"""The provisioning log in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.scim.log import ProvisioningLogEntry, ProvisioningPage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

# At least one row, for the total.
PAGE: Final = f"""
    SELECT    total.entries AS total, page.*
    FROM      (SELECT count(*) AS entries
               FROM   scim_log_entries
               WHERE  organization_id = %(organization_id)s) AS total
    LEFT JOIN LATERAL (SELECT   {columns(ProvisioningLogEntry)}
                       FROM     scim_log_entries
                       WHERE    organization_id = %(organization_id)s
                       ORDER BY id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.id DESC
"""  # noqa: S608 - made of the names of fields
# Failures are looked for among that many entries: a directory without any has written thousands.
SCANNED_MAX: Final = 1_000
FAILURES: Final = f"""
    SELECT   recent.*
    FROM     (SELECT   {columns(ProvisioningLogEntry)}
              FROM     scim_log_entries
              WHERE    organization_id = %(organization_id)s
              ORDER BY id DESC
              LIMIT    %(scanned_max)s) AS recent
    WHERE    recent.status >= 400
    ORDER BY recent.id DESC
    LIMIT    %(limit)s
"""  # noqa: S608 - made of the names of fields


class PostgresScimLog(Aggregate):
    """The port `ScimLog`."""

    def add(self, organization_id: UUID, entry: ProvisioningLogEntry) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO scim_log_entries ({columns(ProvisioningLogEntry)}, organization_id)
            VALUES ({placeholders(ProvisioningLogEntry)}, %(organization_id)s)
            """,  # noqa: S608 - made of the names of fields
            values(entry) | {"organization_id": organization_id},
        )

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningLogEntry]:
        return self._all(
            ProvisioningLogEntry,
            FAILURES,
            {"organization_id": organization_id, "scanned_max": SCANNED_MAX, "limit": limit},
        )

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        rows = self._rows(PAGE, {"organization_id": organization_id, "limit": limit, "offset": offset})
        totals = [row.pop("total") for row in rows]
        return ProvisioningPage(
            entries=[ProvisioningLogEntry(**row) for row in rows if row["id"] is not None], total=totals[0]
        )
