"""The platform's audit log in its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adapters.postgres.driver.columns import values
from adapters.postgres.transaction import Aggregate
from core.audit.audit_log import AuditLogActor
from core.platform.audit_log import PlatformAuditLogEntry, PlatformAuditLogFilter

# At least one row, for the total. Actors are joined for the page alone.
PAGE: Final = """
    WITH requested AS NOT MATERIALIZED (
        SELECT *
        FROM   platform_audit_entries
        WHERE  (%(action)s::text IS NULL OR action = %(action)s)
          AND  (%(target_type)s::text IS NULL OR target_type = %(target_type)s)
          AND  (%(target_id)s::text IS NULL OR target_id = %(target_id)s)
    )
    SELECT   c.total,
             e.id, e.organization_id, e.action, e.target_type, e.target_id, e.ip_address, e.user_agent,
             e.success, e.details, e.created_at, e.actor_user_id,
             u.email             AS actor_email,
             u.is_platform_owner AS actor_is_platform_owner
    FROM     (SELECT count(*) AS total FROM requested) AS c
    LEFT     JOIN (SELECT   *
                   FROM     requested
                   ORDER BY id DESC
                   LIMIT    %(limit)s OFFSET %(offset)s) AS e ON true
    LEFT     JOIN users u ON u.id = e.actor_user_id
    ORDER BY e.id DESC
"""


class PostgresPlatformAuditLog(Aggregate):
    """The port `PlatformAuditLog`."""

    def page(
        self, wanted: PlatformAuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[PlatformAuditLogEntry]]:
        entries, total = self._page_of(_entry, PAGE, values(wanted) | {"limit": limit, "offset": offset})
        return total, entries


def _entry(
    *,
    actor_user_id: Any,
    actor_email: str | None,
    actor_is_platform_owner: bool | None,
    **columns: Any,
) -> PlatformAuditLogEntry:
    actor = AuditLogActor.of(actor_user_id, actor_email, actor_is_platform_owner, columns["details"])
    return PlatformAuditLogEntry(actor=actor, **columns)
