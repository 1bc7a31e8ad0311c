"""The audit log as it is read: each filter is a range of an index of its own, and totals are counted beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, LiteralString

from psycopg.rows import dict_row

from core.audit_log import Actor, LogEntry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from adapters.postgres.pool import Connection
    from core.audit_log import Wanted

# What no entry comes before, and none after.
_FIRST: Final = "00000000-0000-0000-0000-000000000000"
_LAST: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
# One query for each kind of filter, because a plan for "this or anything" would read the log from end to end.
_ALL: Final = "organization_id = %(organization_id)s"
_OF_ACTION: Final = f"{_ALL} AND action = %(action)s"
_OF_TARGET_TYPE: Final = f"{_ALL} AND target_type = %(target_type)s"
_OF_TARGET: Final = f"""{_OF_TARGET_TYPE} AND target_id = %(target_id)s
                        AND (%(action)s::text IS NULL OR action = %(action)s)"""


def _counted(wanted: LiteralString) -> LiteralString:
    # What was counted beforehand, and what is younger than that, in one snapshot. Of an open range the planner would
    # expect a third of the log, and call parallel workers for what are mostly no entries at all.
    return f"""
        SELECT coalesce((SELECT sum(entries)::bigint
                         FROM   audit_totals
                         WHERE  organization_id = %(organization_id)s
                           AND  (%(actions)s::text[] IS NULL OR action = ANY (%(actions)s))), 0)
               + (SELECT count(*)
                  FROM   audit_entries
                  WHERE  {wanted} AND id > coalesce((SELECT counted_through FROM audit_counting), '{_FIRST}')
                    AND  id <= '{_LAST}')
    """  # noqa: S608 - only texts that stand in this module are put together


def _page(wanted: LiteralString, total: LiteralString) -> LiteralString:
    # What is before the page is skipped in the index alone, and a page behind the last one is not looked for. The ids
    # go into an array, so that the entries are found by them whatever the planner thinks of the limit.
    return f"""
        WITH   total (entries) AS MATERIALIZED ({total}),
               page (id) AS MATERIALIZED (
                   SELECT   id
                   FROM     audit_entries
                   WHERE    {wanted} AND %(offset)s < (SELECT entries FROM total)
                   ORDER BY id DESC
                   LIMIT    %(limit)s OFFSET %(offset)s)
        SELECT total.entries AS total, e.id, e.organization_id AS org_id, e.action, e.target_type, e.target_id,
               e.ip_address, e.user_agent, e.success, e.details, e.created_at,
               e.actor_user_id, u.email AS actor_email, u.is_platform_owner AS actor_is_platform_owner
        FROM   total
        LEFT   JOIN audit_entries e ON e.organization_id = %(organization_id)s
                                       AND e.id = ANY (ARRAY(SELECT id FROM page))
        LEFT   JOIN users u ON u.id = e.actor_user_id
        ORDER  BY e.id DESC
    """  # noqa: S608 - likewise


PAGE: Final = _page(_ALL, _counted(_ALL))
PAGE_OF_ACTION: Final = _page(_OF_ACTION, _counted(_OF_ACTION))
PAGE_OF_TARGET_TYPE: Final = _page(_OF_TARGET_TYPE, _counted(_OF_TARGET_TYPE))
# The entries of one target are few enough to be counted each time.
PAGE_OF_TARGET: Final = _page(_OF_TARGET, f"SELECT count(*) FROM audit_entries WHERE {_OF_TARGET}")  # noqa: S608 - likewise


class PostgresAuditLog:
    """The port `AuditLog`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, organization_id: UUID, wanted: Wanted, *, limit: int, offset: int) -> tuple[int, Sequence[LogEntry]]:
        """List entries, newest first, with how many there are, in one statement that counts nothing twice."""
        rows = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                _query(wanted),
                {
                    "organization_id": organization_id,
                    "action": wanted.action.value if wanted.action is not None else None,
                    "actions": wanted.actions,
                    "target_type": wanted.target_type,
                    "target_id": wanted.target_id,
                    "limit": limit,
                    "offset": offset,
                },
                # Planned for this organization each time: what is quickest for the average one may read the logs of
                # all to find the few entries of a small one.
                prepare=False,
            )
            .fetchall()
        )
        # There is a row without an entry when the page has none.
        return rows[0]["total"], [_entry(**row) for row in rows if row["id"] is not None]

    def count_on(self, before: UUID, limit: int) -> int:
        """Add the next uncounted entries with a smaller id to the totals, at most `limit`; say how many those were."""
        # The row cannot be locked instead, because in the beginning there is none.
        lock = self._connection.execute("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.audit_counting'))")
        if lock.fetchone() != (True,):
            return 0
        # An organization that is deleted at this moment is waited for, and then left out.
        counted = self._connection.execute(
            """
            WITH batch AS MATERIALIZED (
                     SELECT   id, organization_id, action
                     FROM     audit_entries
                     WHERE    id > coalesce((SELECT counted_through FROM audit_counting), %s::uuid) AND id < %s
                     ORDER BY id
                     LIMIT    %s),
                 present AS MATERIALIZED (
                     SELECT   id
                     FROM     organizations
                     WHERE    id IN (SELECT organization_id FROM batch)
                     ORDER BY id
                     FOR KEY SHARE),
                 added AS (
                     INSERT INTO audit_totals AS total (organization_id, action, entries)
                     SELECT   batch.organization_id, batch.action, count(*)
                     FROM     batch
                     JOIN     present ON present.id = batch.organization_id
                     GROUP BY batch.organization_id, batch.action
                     ON CONFLICT (organization_id, action) DO UPDATE SET entries = total.entries + excluded.entries)
            INSERT INTO audit_counting (counted_through)
            SELECT id FROM batch ORDER BY id DESC LIMIT 1
            ON CONFLICT (is_the_only_row) DO UPDATE SET counted_through = excluded.counted_through
            RETURNING (SELECT count(*) FROM batch)
            """,
            (_FIRST, before, limit),
        ).fetchone()
        return counted[0] if counted is not None else 0


def _query(wanted: Wanted) -> LiteralString:
    if wanted.target_id is not None:
        return PAGE_OF_TARGET
    if wanted.action is not None:
        return PAGE_OF_ACTION
    if wanted.target_type is not None:
        return PAGE_OF_TARGET_TYPE
    return PAGE


def _entry(
    *,
    total: int,  # noqa: ARG001 - stands beside every entry
    actor_user_id: UUID | None,
    actor_email: str | None,
    actor_is_platform_owner: bool | None,
    **columns: Any,
) -> LogEntry:
    return LogEntry(actor=Actor.of(actor_user_id, actor_email, actor_is_platform_owner), **columns)
