"""Reading the audit log: each filter is a range of an index of its own, and totals are counted in advance.

A page deep in a long log is not reached by skipping all newer entries. Counting stores a milestone at intervals, which
records how many entries there are up to it, and the page is found from the last milestone before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString, NamedTuple
from uuid import UUID

from adapters.postgres.driver.columns import values
from adapters.postgres.driver.connection import Connection
from adapters.postgres.log_times import COUNTED_AT_ONCE
from adapters.postgres.transaction import Aggregate
from core.audit.audit_log import AuditLogActor, AuditLogEntry, AuditLogFilter
from core.ids import FIRST_ID, id_later

# The least number of entries of a kind between two milestones; skipping that many takes less than a millisecond.
MILESTONE_ENTRIES: Final = 10_000
# The lowest and the highest id.
_FIRST: Final = "00000000-0000-0000-0000-000000000000"
_LAST: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
# One query for each kind of filter, because a plan for "this value or any" would read the whole log.
_ALL: Final = "organization_id = %(organization_id)s"
_OF_ACTION: Final = f"{_ALL} AND action = %(action)s"
_OF_TARGET_TYPE: Final = f"{_ALL} AND target_type = %(target_type)s"
_OF_TARGET: Final = f"""{_OF_TARGET_TYPE} AND target_id = %(target_id)s
                        AND (%(action)s::text IS NULL OR action = %(action)s)"""


def _counted(wanted: LiteralString) -> LiteralString:
    # The entries that were counted in advance and the newer ones, in one snapshot. For an open range the planner would
    # expect a third of the log, and start parallel workers for what usually are no entries at all.
    return f"""
        SELECT coalesce((SELECT entries
                         FROM   audit_totals
                         WHERE  organization_id = %(organization_id)s AND kind = %(kind)s), 0)
               + (SELECT count(*)
                  FROM   audit_entries
                  WHERE  {wanted} AND id > coalesce((SELECT counted_through FROM audit_counting), '{_FIRST}')
                    AND  id <= '{_LAST}')
    """


# The last milestone before the whole page, or the beginning of the log; no row when the newest entry is nearer to the
# page.
_MILESTONE: Final = f"""
               SELECT   entry_id, older.entries - passed.entries AS skipped
               FROM     older
               CROSS JOIN LATERAL (
                            (SELECT   entries, entry_id
                             FROM     audit_milestones
                             WHERE    organization_id = %(organization_id)s AND kind = %(kind)s
                               AND    entries <= older.entries
                             ORDER BY entries DESC
                             LIMIT    1)
                            UNION ALL
                            SELECT 0, '{_FIRST}') AS passed
               WHERE    older.entries - passed.entries < %(offset)s
               ORDER BY passed.entries DESC
               LIMIT    1
"""
_NO_MILESTONE: Final = f"SELECT '{_FIRST}'::uuid AS entry_id, 0 AS skipped WHERE false"


def _page(wanted: LiteralString, total: LiteralString, milestone: LiteralString) -> LiteralString:
    # Entries are skipped in the index alone, and a page after the last one is not searched. The ids go into an array,
    # so that the entries are found by id whatever the planner estimates for the limit. The array alone would not tell
    # PostgreSQL which months they are of.
    return f"""
        WITH   total (entries) AS MATERIALIZED ({total}),
               older (entries) AS MATERIALIZED (
                   SELECT greatest(entries - %(offset)s - %(limit)s, 0) FROM total WHERE entries > %(offset)s),
               milestone AS MATERIALIZED ({milestone}),
               page (id) AS MATERIALIZED (
                   (SELECT   id
                    FROM     audit_entries
                    WHERE    {wanted} AND EXISTS (SELECT FROM older) AND NOT EXISTS (SELECT FROM milestone)
                    ORDER BY id DESC
                    LIMIT    %(limit)s OFFSET %(offset)s)
                   UNION ALL
                   (SELECT   id
                    FROM     audit_entries
                    WHERE    {wanted} AND id > (SELECT entry_id FROM milestone) AND id <= '{_LAST}'
                    ORDER BY id
                    LIMIT    (SELECT greatest(least(%(limit)s, entries - %(offset)s), 0) FROM total)
                    OFFSET   (SELECT skipped FROM milestone)))
        SELECT total.entries AS total, e.id, e.organization_id, e.action, e.target_type, e.target_id,
               e.ip_address, e.user_agent, e.success, e.details, e.created_at,
               e.actor_user_id
        FROM   total
        LEFT   JOIN audit_entries e ON e.organization_id = %(organization_id)s
                                       AND e.id = ANY (ARRAY(SELECT id FROM page))
                                       AND e.id >= (SELECT id FROM page ORDER BY id LIMIT 1)
                                       AND e.id <= (SELECT id FROM page ORDER BY id DESC LIMIT 1)
        ORDER  BY e.id DESC
    """


PAGE: Final = _page(_ALL, _counted(_ALL), _MILESTONE)
PAGE_OF_ACTION: Final = _page(_OF_ACTION, _counted(_OF_ACTION), _MILESTONE)
PAGE_OF_TARGET_TYPE: Final = _page(_OF_TARGET_TYPE, _counted(_OF_TARGET_TYPE), _MILESTONE)
# The entries of one target are few enough to be counted each time.
PAGE_OF_TARGET: Final = _page(
    _OF_TARGET,
    f"SELECT count(*) FROM audit_entries WHERE {_OF_TARGET}",
    _NO_MILESTONE,
)
# The next entries of all organizations.
UNCOUNTED: Final = """
    SELECT   id, organization_id, target_type, action
    FROM     audit_entries
    WHERE    id > %(after)s AND id < %(before)s
    ORDER BY id
    LIMIT    %(limit)s
"""
# Waits for an organization that is being deleted, and then leaves it out.
COUNT: Final = """
    WITH batch AS MATERIALIZED (
             SELECT id, organization_id, target_type, action
             FROM   unnest(%(ids)s::uuid[], %(organization_ids)s::uuid[], %(target_types)s::text[],
                           %(actions)s::text[]) AS entry (id, organization_id, target_type, action)),
         present AS MATERIALIZED (
             SELECT   id
             FROM     organizations
             WHERE    id IN (SELECT organization_id FROM batch)
             ORDER BY id
             FOR KEY SHARE),
         grown AS MATERIALIZED (
             SELECT   batch.organization_id, coalesce(batch.action, batch.target_type, '') AS kind,
                      count(*) AS entries, (array_agg(batch.id ORDER BY batch.id DESC))[1] AS last_id
             FROM     batch
             JOIN     present ON present.id = batch.organization_id
             GROUP BY batch.organization_id, GROUPING SETS ((), (batch.target_type), (batch.action))),
         added AS (
             INSERT INTO audit_totals AS total (organization_id, kind, entries)
             SELECT organization_id, kind, entries FROM grown
             ON CONFLICT (organization_id, kind) DO UPDATE SET entries = total.entries + excluded.entries
             RETURNING organization_id, kind, entries),
         passed AS (
             INSERT INTO audit_milestones (organization_id, kind, entries, entry_id)
             SELECT added.organization_id, added.kind, added.entries, grown.last_id
             FROM   added
             JOIN   grown USING (organization_id, kind)
             WHERE  added.entries / %(milestone)s > (added.entries - grown.entries) / %(milestone)s
             ON CONFLICT DO NOTHING)
    INSERT INTO audit_counting (counted_through)
    VALUES (%(counted_through)s)
    ON CONFLICT (is_the_only_row) DO UPDATE SET counted_through = excluded.counted_through
"""
# The actors of entries: a statement of its own, because accounts are not distributed on a cluster.
ACTORS: Final = "SELECT id, email, is_platform_owner FROM users WHERE id = ANY (%s)"
# The months that have the entries of a part of a chain. Positions are given in about the order of the ids, but not
# exactly, so no month is a range of positions. With the ids as values, a statement that reads entries by their
# positions is planned for their months alone.
SEALED_IDS: Final = """
    WITH sealed AS MATERIALIZED (
        SELECT entry_id
        FROM   audit_seals
        WHERE  organization_id = %(organization_id)s AND position > %(after)s AND position <= %(through)s)
    SELECT (SELECT entry_id FROM sealed ORDER BY entry_id LIMIT 1),
           (SELECT entry_id FROM sealed ORDER BY entry_id DESC LIMIT 1)
"""


class _Uncounted(NamedTuple):
    """An entry that is not counted yet."""

    id: UUID
    organization_id: UUID
    target_type: str
    action: str


class SealedIds(NamedTuple):
    """A range of ids, with both ends."""

    first_id: UUID
    last_id: UUID


class PostgresAuditLog(Aggregate):
    """The port `AuditLog`."""

    def page(
        self, organization_id: UUID, wanted: AuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[AuditLogEntry]]:
        rows, total = self._page_of(
            dict[str, Any],
            _query(wanted),
            values(wanted)
            | {"organization_id": organization_id, "kind": wanted.kind, "limit": limit, "offset": offset},
            # Planned for this organization each time: the best plan for the average organization may read the logs
            # of all to find the few entries of a small one.
            prepare=False,
        )
        return total, [AuditLogEntry(**row) for row in with_actors(self._connection, rows)]

    def count_next(self, before: UUID, limit: int) -> int:
        # The row of `audit_counting` cannot be locked instead, because at first there is none.
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.audit_counting'))"):
            return 0
        after = self._value_or_none("SELECT counted_through FROM audit_counting") or self._until_next(FIRST_ID, before)
        counted = 0
        while after < before:
            # Planned for a month: a plan for any time looks at all months of the log.
            end = min(before, id_later(after, COUNTED_AT_ONCE))
            values = {"after": after, "before": end, "limit": limit - counted}
            batch = self._all(_Uncounted, UNCOUNTED, values, prepare=False)
            if batch:
                self._count(batch)
                counted += len(batch)
            if counted == limit or end == before:
                break
            after = self._until_next(end, before)
        return counted

    def _count(self, batch: Sequence[_Uncounted]) -> None:
        self._connection.execute(
            COUNT,
            {
                "ids": [entry.id for entry in batch],
                "organization_ids": [entry.organization_id for entry in batch],
                "target_types": [entry.target_type for entry in batch],
                "actions": [entry.action for entry in batch],
                "counted_through": batch[-1].id,
                "milestone": MILESTONE_ENTRIES,
            },
        )

    def _until_next(self, since: UUID, before: UUID) -> UUID:
        """Return the id directly before the first entry of a range, or the end of the range."""
        first = self._value_or_none(
            "SELECT id FROM audit_entries WHERE id >= %(since)s AND id < %(before)s ORDER BY id LIMIT 1",
            {"since": since, "before": before},
        )
        return UUID(int=first.int - 1) if first is not None else before


def with_actors(connection: Connection, rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return entries with their `actor` instead of the `actor_user_id`."""
    ids = {row["actor_user_id"] for row in rows} - {None}
    found = connection.execute(ACTORS, (list(ids),)).fetchall() if ids else []
    users = {user_id: (email, is_platform_owner) for user_id, email, is_platform_owner in found}
    return [_with_actor(row, users.get(row["actor_user_id"], (None, None))) for row in rows]


def sealed_ids(connection: Connection, organization_id: UUID, *, after: int, through: int) -> SealedIds | None:
    """Return the range of the ids of the entries after a position up to another one; None when there are none."""
    values = {"organization_id": organization_id, "after": after, "through": through}
    [(first_id, last_id)] = connection.execute(SEALED_IDS, values).fetchall()
    return SealedIds(first_id, last_id) if first_id is not None else None


def _query(wanted: AuditLogFilter) -> LiteralString:
    if wanted.target_id is not None:
        return PAGE_OF_TARGET
    if wanted.action is not None:
        return PAGE_OF_ACTION
    if wanted.target_type is not None:
        return PAGE_OF_TARGET_TYPE
    return PAGE


def _with_actor(row: dict[str, Any], user: tuple[str | None, bool | None]) -> dict[str, Any]:
    columns = {name: value for name, value in row.items() if name != "actor_user_id"}
    return columns | {"actor": AuditLogActor.of(row["actor_user_id"], *user, row["details"])}
