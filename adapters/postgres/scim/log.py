"""The provisioning log in its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.log_times import IN_TIMES, values_of
from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.scim.log import CallSearch, ProvisioningLogEntry, ProvisioningPage

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
"""
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
"""
LAST_OF_TOKENS: Final = f"""
    SELECT   DISTINCT ON (recent.token_id) recent.*
    FROM     (SELECT   {columns(ProvisioningLogEntry)}
              FROM     scim_log_entries
              WHERE    organization_id = %(organization_id)s
              ORDER BY id DESC
              LIMIT    %(scanned_max)s) AS recent
    ORDER BY recent.token_id, recent.id DESC
"""
FOUND: Final = f"""
    FROM  scim_log_entries
    WHERE organization_id = %(organization_id)s AND id >= %(first_id)s AND id < %(before_id)s
    AND   (NOT %(only_failed)s::boolean OR status >= 400)
    AND   {IN_TIMES}
"""


class PostgresScimLog(Aggregate):
    """The port `ScimLog`."""

    def add(self, organization_id: UUID, entry: ProvisioningLogEntry) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO scim_log_entries ({columns(ProvisioningLogEntry)}, organization_id)
            VALUES ({placeholders(ProvisioningLogEntry)}, %(organization_id)s)
            """,
            values(entry) | {"organization_id": organization_id},
        )

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningLogEntry]:
        return self._all(
            ProvisioningLogEntry,
            FAILURES,
            {"organization_id": organization_id, "scanned_max": SCANNED_MAX, "limit": limit},
        )

    def last_of_tokens(self, organization_id: UUID) -> Sequence[ProvisioningLogEntry]:
        return self._all(
            ProvisioningLogEntry, LAST_OF_TOKENS, {"organization_id": organization_id, "scanned_max": SCANNED_MAX}
        )

    def found(
        self, organization_id: UUID, wanted: CallSearch, *, after: Position | None, limit: int
    ) -> Sequence[ProvisioningLogEntry]:
        end_id = wanted.times.end_id
        before_id = min(end_id, after.id) if after is not None else end_id
        return self._all(
            ProvisioningLogEntry,
            f"SELECT {columns(ProvisioningLogEntry)} {FOUND} ORDER BY id DESC LIMIT %(limit)s",
            _values(organization_id, wanted, limit) | {"before_id": before_id},
            # Planned with its values, so that failures alone have their index.
            prepare=False,
        )

    def count(self, organization_id: UUID, wanted: CallSearch, *, counted_max: int) -> int:
        [count] = self._values(
            f"SELECT count(*) FROM (SELECT 1 {FOUND} LIMIT %(limit)s) AS counted",
            _values(organization_id, wanted, counted_max),
            prepare=False,
        )
        return count

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        rows = self._rows(PAGE, {"organization_id": organization_id, "limit": limit, "offset": offset})
        totals = [row.pop("total") for row in rows]
        return ProvisioningPage(
            entries=[ProvisioningLogEntry(**row) for row in rows if row["id"] is not None], total=totals[0]
        )


def _values(organization_id: UUID, wanted: CallSearch, limit: int) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        **values_of(wanted.times),
        "only_failed": wanted.only_failed,
        "limit": limit,
    }
