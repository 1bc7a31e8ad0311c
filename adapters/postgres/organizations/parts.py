"""The tables with very many rows of one organization, whose rows are deleted in parts before it.

A statement must not take too long. The other rows are deleted with the row of the organization.
"""

from __future__ import annotations

from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate


def _part_of(log: LiteralString, key: LiteralString = "id") -> tuple[LiteralString, LiteralString]:
    """Return what finds where the next part of a log ends, and what deletes up to there.

    They are two statements, so that the second is planned for a part of the log, and reads the months of that part.
    """
    find_last: LiteralString = f"""
        SELECT   {key}
        FROM     (SELECT   {key}
                  FROM     {log}
                  WHERE    organization_id = %(organization_id)s
                  ORDER BY {key}
                  LIMIT    %(rows_max)s) AS part
        ORDER BY {key} DESC
        LIMIT    1
    """
    return find_last, f"DELETE FROM {log} WHERE organization_id = %(organization_id)s AND {key} <= %(last)s"


# In the order of deletion: what is written for a row of another log comes after that one.
LOGS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    _part_of("audit_entries"),
    _part_of("audit_seals", key="position"),
    _part_of("webhook_deliveries"),
    _part_of("webhook_attempts"),
    _part_of("events"),
    _part_of("mails"),
    _part_of("scim_log_entries"),
    _part_of("login_events"),
)
_SESSIONS: Final[tuple[LiteralString, ...]] = (
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(SELECT id FROM sessions WHERE organization_id = %(organization_id)s LIMIT %(rows_max)s))
    """,
    # Sessions on the platform, without the organization as their context, which its connections have begun.
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(
        SELECT s.id
        FROM   upstream_connections c
        JOIN   sessions s ON s.connection_id = c.id
        WHERE  c.organization_id = %(organization_id)s
        LIMIT  %(rows_max)s))
    """,
)


class OrganizationParts(Aggregate):
    """Deletes parts of organizations: about so many rows of one table, so that 0 says that none is left in any."""

    def delete(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete a part, and return how many rows it had."""
        if deleted := self.delete_of_logs(organization_id, rows_max=rows_max):
            return deleted
        for statement in _SESSIONS:
            values = {"organization_id": organization_id, "rows_max": rows_max}
            if deleted := self._connection.execute(statement, values).rowcount:
                return deleted
        return 0

    def delete_of_logs(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete a part of a log, and return how many rows it had."""
        values = {"organization_id": organization_id, "rows_max": rows_max}
        for find_last, delete in LOGS:
            last = self._value_or_none(find_last, values)
            if last is None:
                continue
            if deleted := self._connection.execute(delete, values | {"last": last}).rowcount:
                return deleted
        return 0
