"""Deleting old rows of the logs, which may be spread over machines by their organization.

The first statement reads the oldest rows from all machines, without locks, at most as many as are deleted. Each further
statement locks and deletes rows of one organization, and many of these share a round trip. The bounds of ids are for
the planner: only the oldest months.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, LiteralString, TypeAlias
from uuid import UUID

from adapters.postgres.driver.connection import ROUND_TRIP_STATEMENTS_MAX, Cursor
from adapters.postgres.transaction import Aggregate
from core.ids import MILLISECOND, end_id_until, first_id_at
from core.platform.housekeeping import Leftover
from core.tables import PartialTable


def _find(log: LiteralString, is_old: LiteralString, order: LiteralString) -> LiteralString:
    """Return what finds the organizations with the oldest rows: one for each row."""
    return f"""
        SELECT   organization_id
        FROM     {log}
        WHERE    id < %(end_id)s {is_old}
        ORDER BY {order}
        LIMIT    %(limit)s
    """


def _delete(log: LiteralString, is_old: LiteralString, returned: LiteralString = "id") -> LiteralString:
    """Return what deletes the oldest rows of an organization."""
    return f"""
        DELETE FROM {log}
        WHERE  organization_id = %(organization_id)s AND id < %(end_id)s AND id = ANY (ARRAY(
            SELECT   id
            FROM     {log}
            WHERE    organization_id = %(organization_id)s AND id < %(end_id)s {is_old}
            ORDER BY id
            LIMIT    %(limit)s
            FOR UPDATE SKIP LOCKED))
        RETURNING {returned}
    """


_CREATED: Final = "AND created_at <= %(until)s"
_OCCURRED: Final = "AND occurred_at <= %(until)s"
_FIND: Final[PartialTable[Leftover, LiteralString]] = PartialTable(
    {
        Leftover.SCIM_LOG_ENTRIES: _find("scim_log_entries", _CREATED, "created_at"),
        Leftover.WEBHOOK_DELIVERIES: _find("webhook_deliveries", _CREATED, "created_at"),
        Leftover.EVENTS: _find("events", _OCCURRED, "occurred_at"),
        # Their months go by the ids alone.
        Leftover.LOGIN_EVENTS: _find("login_events", "", "id"),
    }
)
_DELETE: Final[PartialTable[Leftover, LiteralString]] = PartialTable(
    {
        Leftover.SCIM_LOG_ENTRIES: _delete("scim_log_entries", _CREATED),
        Leftover.WEBHOOK_DELIVERIES: _delete("webhook_deliveries", _CREATED),
        Leftover.EVENTS: _delete("events", _OCCURRED, "id, actor_user_id, actor_email"),
        Leftover.LOGIN_EVENTS: _delete("login_events", ""),
    }
)
LOGS: Final = frozenset(_FIND)
# Sign-ins before the first month that can be dropped as a whole, and only counted ones.
_BOUND: Final = """
    SELECT least(coalesce((SELECT counted_through FROM sign_in_counting), '00000000-0000-0000-0000-000000000000'),
                 (SELECT   first_id
                  FROM     log_partitions
                  WHERE    log = 'login_events' AND first_id IS NOT NULL
                  ORDER BY first_id
                  LIMIT    1))
"""
# The addresses of an account are found by its events. The addresses of old events are kept, or the account could not be
# anonymized completely.
_KEEP_ADDRESSES: Final = """
    INSERT INTO known_addresses (user_id, email)
    SELECT DISTINCT u.id, old.email
    FROM   unnest(%s::uuid[], %s::text[]) AS old (user_id, email)
    JOIN   users u ON u.id = old.user_id
    WHERE  u.anonymized_at IS NULL
    -- In order, so that two sweeps never wait for each other.
    ORDER  BY u.id, old.email
    ON CONFLICT DO NOTHING
"""
# What belongs to rows that were deleted.
_DELIVERIES_OF_EVENTS: Final = """
    DELETE FROM webhook_deliveries
    WHERE       organization_id = ANY (%s) AND event_id = ANY (%s)
    RETURNING   organization_id, id
"""
_ATTEMPTS_OF_DELIVERIES: Final = """
    DELETE FROM webhook_attempts WHERE organization_id = ANY (%s) AND delivery_id = ANY (%s)
"""
# A row of one organization: its id is the second value.
_Deleted: TypeAlias = tuple[UUID, UUID]


class OldLogRows(Aggregate):
    """The rows of logs that are kept no longer."""

    def delete(self, leftover: Leftover, ended_until: datetime, limit: int) -> int:
        """Delete at most `limit` rows that had expired by that moment, with what belongs to them; return how many."""
        find, delete = _FIND.get(leftover), _DELETE.get(leftover)
        assert find is not None, f"nothing finds the rows of this kind: {leftover.value}"
        assert delete is not None, f"nothing deletes the rows of this kind: {leftover.value}"
        values = {"until": ended_until, "end_id": end_id_until(ended_until), "limit": limit}
        if leftover is Leftover.LOGIN_EVENTS:
            values["end_id"] = min(first_id_at(ended_until + MILLISECOND), self._value(_BOUND))
        deleted: list[tuple[UUID, Any]] = []
        organizations = Counter(self._values(find, values))
        waiting: list[tuple[UUID, Cursor[tuple[Any, ...]]]] = []
        for number, (organization_id, rows) in enumerate(sorted(organizations.items()), start=1):
            of_organization = values | {"organization_id": organization_id, "limit": rows}
            waiting.append((organization_id, self._connection.cursor().defer(delete, of_organization)))
            if number % ROUND_TRIP_STATEMENTS_MAX == 0:
                self._connection.flush()
        for organization_id, cursor in waiting:
            deleted += [(organization_id, row) for row in cursor.fetchall()]
        if leftover is Leftover.EVENTS:
            self._keep_addresses([row[1:] for _, row in deleted])
            self._delete_deliveries([(organization_id, row[0]) for organization_id, row in deleted])
        elif leftover is Leftover.WEBHOOK_DELIVERIES:
            self._delete_attempts([(organization_id, row[0]) for organization_id, row in deleted])
        return len(deleted)

    def _keep_addresses(self, actors: Sequence[tuple[UUID | None, str | None]]) -> None:
        known = {(user_id, email) for user_id, email in actors if user_id is not None and email is not None}
        if known:
            ordered = sorted(known)
            self._connection.execute(_KEEP_ADDRESSES, tuple(map(list, zip(*ordered, strict=True))))

    def _delete_deliveries(self, events: Sequence[_Deleted]) -> None:
        if events:
            self._delete_attempts(self._connection.execute(_DELIVERIES_OF_EVENTS, _keys(events)).fetchall())

    def _delete_attempts(self, deliveries: Sequence[_Deleted]) -> None:
        if deliveries:
            self._connection.execute(_ATTEMPTS_OF_DELIVERIES, _keys(deliveries))


def _keys(rows: Sequence[_Deleted]) -> tuple[list[UUID], list[UUID]]:
    """Return the organizations, and the ids."""
    return sorted({organization_id for organization_id, _ in rows}), [row_id for _, row_id in rows]
