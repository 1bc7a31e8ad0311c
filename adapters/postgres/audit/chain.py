"""The hash chains of audit logs: `audit_entries.position`, `audit_seals` and `audit_chains`.

Sealing waits for no lock of another transaction, so it neither delays nor deadlocks with one. Anonymization changes an
entry first and its seal afterwards: until then sealing has left the entry out, or its seal is visible.

`log_dues` says which organizations may have entries that wait. Statements on the log name the organizations that they
are for, and no table that is not distributed like it, so that each goes to their shards on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.transaction import Aggregate
from core.audit.chain import (
    FIRST_HASH,
    NO_TURNS,
    ChainEnd,
    ChainEntry,
    LogPart,
    OrganizationChain,
    SealedEntry,
    SealingBacklog,
    Turns,
    Unsealed,
    UnsealedLog,
)
from core.audit.siem_stream import BATCH_EVERY
from core.deferred import Deferred
from core.ids import FIRST_ID, LAST_ID

# Of how many organizations one transaction seals entries.
ORGANIZATIONS_MAX: Final = 32
# How many marks are looked at together, and how many entries to find out which of them something waits for.
MARKS_MAX: Final = 1_000
LOOKED_AT_MAX: Final = 500
# The marked organizations in turn.
MARKED: Final = """
    WITH last (organization_id) AS MATERIALIZED (
        SELECT coalesce((SELECT last_organization_id FROM audit_sealing), %(first_id)s))
    SELECT   organization_id
    FROM     ((SELECT   organization_id, 1 AS turn
               FROM     log_dues
               WHERE    entries AND organization_id > (SELECT organization_id FROM last)
               ORDER BY organization_id
               LIMIT    %(marks_max)s)
              UNION ALL
              (SELECT   organization_id, 2
               FROM     log_dues
               WHERE    entries AND organization_id <= (SELECT organization_id FROM last)
               ORDER BY organization_id
               LIMIT    %(marks_max)s)) AS marked
    ORDER BY turn, organization_id
    LIMIT    %(marks_max)s
"""
# Entries that wait of some organizations, in no order.
WAITING: Final = """
    SELECT organization_id
    FROM   audit_entries
    WHERE  organization_id = ANY (%(organization_ids)s) AND position IS NULL
    AND    id >= %(since_id)s AND id < %(end_id)s
    LIMIT  %(limit)s
"""
# Of all organizations, in the order of the index: in old months, where entries wait after an upgrade alone.
WAITING_IN_PART: Final = """
    SELECT   organization_id
    FROM     audit_entries
    WHERE    position IS NULL AND organization_id > %(after)s AND id >= %(since_id)s AND id < %(end_id)s
    ORDER BY organization_id
    LIMIT    %(limit)s
"""
MARK_OVERLOOKED: Final = """
    WITH overlooked AS MATERIALIZED (
        SELECT id
        FROM   organizations o
        WHERE  id = ANY (%s) AND NOT EXISTS (SELECT FROM log_dues d WHERE d.organization_id = o.id AND d.entries)
        FOR    KEY SHARE
    )
    SELECT mark_due(id) FROM overlooked
"""
# It skips those in which a transaction writes at this moment.
LOCK_MARKS: Final = """
    SELECT organization_id
    FROM   log_dues
    WHERE  organization_id = ANY (%s) AND entries
    FOR    UPDATE SKIP LOCKED
"""
UNMARK: Final = "UPDATE log_dues SET entries = false WHERE organization_id = ANY (%s)"
# Old months and what is new have turns of their own, because a backlog is sealed in batches of both in turn.
_LAST_TURN: Final = "SELECT last_organization_id FROM audit_sealing"
_LAST_OLD_TURN: Final = "SELECT last_of_old_months FROM audit_sealing"
_STORE_TURN: Final = """
    INSERT INTO audit_sealing (last_organization_id) VALUES (%(organization_id)s)
    ON CONFLICT (is_the_only_row) DO UPDATE SET last_organization_id = excluded.last_organization_id
"""
_STORE_OLD_TURN: Final = """
    INSERT INTO audit_sealing (last_organization_id, last_of_old_months) VALUES (%(first_id)s, %(organization_id)s)
    ON CONFLICT (is_the_only_row) DO UPDATE SET last_of_old_months = excluded.last_of_old_months
"""
# Of one organization. The ids first, because what a union returns cannot be locked. Then each entry is looked up by
# itself, in the month that its id names: a list of ids would be looked up in each of the months.
UNSEALED: Final = """
    WITH next (id) AS MATERIALIZED (
        SELECT   id
        FROM     ((SELECT   id, created_at
                   FROM     audit_entries
                   WHERE    organization_id = %(organization_id)s AND position IS NULL
                   AND      created_at >= %(fresh_since)s AND id >= %(since_id)s AND id < %(end_id)s
                   ORDER BY created_at, id
                   LIMIT    %(fresh_share)s)
                  UNION
                  (SELECT   id, created_at
                   FROM     audit_entries
                   WHERE    organization_id = %(organization_id)s AND position IS NULL
                   AND      id >= %(since_id)s AND id < %(end_id)s
                   ORDER BY created_at, id
                   LIMIT    %(share)s)) AS first
        ORDER BY created_at >= %(fresh_since)s DESC, created_at, id
        LIMIT    %(share)s)
    SELECT   e.*, (SELECT max(position) FROM audit_seals WHERE organization_id = %(organization_id)s) AS last_position
    FROM     next
    CROSS    JOIN LATERAL (SELECT id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                  user_agent, success, details, created_at
                           FROM   audit_entries
                           WHERE  organization_id = %(organization_id)s AND id = next.id
                           AND    id >= %(since_id)s AND id < %(end_id)s
                           FOR    NO KEY UPDATE SKIP LOCKED) AS e
    ORDER BY e.created_at, e.id
"""
# In the order of their ids; the last one has no end.
PARTS: Final = """
    SELECT   coalesce(first_id, lag(end_id) OVER (ORDER BY end_id), %(first_id)s) AS since_id,
             coalesce(end_id, %(last_id)s) AS end_id
    FROM     log_partitions
    WHERE    log = 'audit_entries'
    ORDER BY end_id
"""
# The counts of the logs and the ends of their chains: one row of each for an organization.
BACKLOG: Final = """
    SELECT   organization_id, t.entries - coalesce(c.sealed_through, 0) AS entries,
             (sum(t.entries - coalesce(c.sealed_through, 0)) OVER ())::bigint AS total
    FROM     audit_totals t
    LEFT     JOIN audit_chains c USING (organization_id)
    WHERE    t.kind = '' AND t.entries > coalesce(c.sealed_through, 0)
    ORDER BY entries DESC, organization_id
    LIMIT    %s
"""
# One document takes a fraction of the time of an array for each column.
SEAL: Final = """
    INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
    SELECT organization_id, position, entry_id, hash, digests, salts
    FROM   jsonb_to_recordset(%s)
           AS one (organization_id uuid, position bigint, entry_id uuid, hash text, digests jsonb, salts jsonb)
"""
END: Final = """
    INSERT INTO audit_chains AS chain (organization_id, sealed_through, head, sealed_at)
    SELECT organization_id, position, hash, %(now)s
    FROM   unnest(%(organization_ids)s::uuid[], %(positions)s::bigint[], %(hashes)s::text[])
           AS one (organization_id, position, hash)
    ON CONFLICT (organization_id) DO UPDATE
    SET    sealed_through = excluded.sealed_through, head = excluded.head, sealed_at = excluded.sealed_at
"""
PLACE: Final = """
    UPDATE audit_entries
    SET    position = sealed.position
    FROM   unnest(%(organization_ids)s::uuid[], %(ids)s::uuid[], %(positions)s::bigint[])
           AS sealed (organization_id, id, position)
    WHERE  audit_entries.organization_id = ANY (%(of)s)
    AND    audit_entries.organization_id = sealed.organization_id AND audit_entries.id = sealed.id
    AND    audit_entries.id >= %(first_id)s AND audit_entries.id <= %(last_id)s
"""


class PostgresAuditChains(Aggregate):
    """The port `AuditChains`."""

    def parts(self) -> Sequence[LogPart]:
        return self._all(LogPart, PARTS, {"first_id": FIRST_ID, "last_id": LAST_ID})

    def take_turns(self, part: LogPart) -> Turns:
        locked = self._defer_values("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.audit_sealing'))")
        find = self._marked(part) if part.by_marks else self._in_log(part)
        if locked() != [True]:
            return NO_TURNS
        return find()

    def unsealed(self, shares: Mapping[UUID, int], *, fresh_since: datetime, part: LogPart) -> Sequence[Unsealed]:
        # A batch is shared among few organizations, so the row of each is not locked for long. An organization that is
        # being deleted is left out.
        locked = self._defer_values(
            "SELECT id FROM organizations WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE SKIP LOCKED", (list(shares),)
        )
        stored_ends = self._defer_ends(list(shares))
        months = {"fresh_since": fresh_since, "since_id": part.since_id, "end_id": part.end_id}
        reads = {
            organization_id: self._defer_all(
                _chain_entry,
                UNSEALED,
                months | {"organization_id": organization_id, "share": share, "fresh_share": (share + 1) // 2},
            )
            for organization_id, share in shares.items()
        }
        ends = {end.organization_id: end for end in stored_ends()}
        found: list[Unsealed] = []
        for organization_id in locked():
            end = ends.get(organization_id) or _beginning(organization_id)
            if waiting := reads[organization_id]():
                # On a cluster, the last seals may become visible a moment after the end of their chain.
                last = max(end.sealed_through, waiting[0][1] or 0)
                found.append(Unsealed(end=end, last_position=last, entries=[entry for entry, _ in waiting]))
        return found

    def store(self, sealed: Sequence[SealedEntry]) -> None:
        self._connection.execute_later(SEAL, (Jsonb([_seal_row(one) for one in sealed]),))
        last = {one.entry.organization_id: one.seal for one in sealed}
        self._connection.execute_later(
            END,
            {
                "organization_ids": list(last),
                "positions": [seal.position for seal in last.values()],
                "hashes": [seal.hash for seal in last.values()],
                "now": self._transaction.now,
            },
        )
        ids = [one.entry.id for one in sealed]
        self._connection.execute(
            PLACE,
            {
                "organization_ids": [one.entry.organization_id for one in sealed],
                "ids": ids,
                "positions": [one.seal.position for one in sealed],
                "of": list(last),
                # Of these months.
                "first_id": min(ids),
                "last_id": max(ids),
            },
            # Planned for these months: a plan for any of them would look at all.
            prepare=False,
        )
        # Also a stream that is due already: the lock makes `record` see these entries.
        self._connection.execute_later(
            """
            UPDATE siem_streams
            SET    due_at = CASE WHEN failures > 0 AND due_at IS NOT NULL THEN due_at
                                 -- One that looks for sign-ins later than that has entries to send before.
                                 ELSE least(due_at, greatest(attempted_at + %(every)s, %(now)s)) END
            WHERE  organization_id = ANY (%(ids)s)
            """,
            {"every": BATCH_EVERY, "now": self._transaction.now, "ids": list(last)},
        )

    def unmark(self, organization_ids: Sequence[UUID], part: LogPart) -> None:
        locked = self._defer_values(LOCK_MARKS, (list(organization_ids),))
        # A statement of its own: it sees what was committed before the marks were locked.
        waiting = self._some_waiting(organization_ids, part)
        if waiting is not None and (unmarked := set(locked()) - waiting):
            self._connection.execute_later(UNMARK, (list(unmarked),))

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        if not organization_ids:
            return 0
        return self._connection.execute(MARK_OVERLOOKED, (list(organization_ids),)).rowcount

    def end(self, organization_id: UUID) -> ChainEnd:
        found = self._defer_ends([organization_id])()
        return found[0] if found else _beginning(organization_id)

    def of_organizations(self, slug: str | None) -> Sequence[OrganizationChain]:
        rows = self._rows(
            """
            SELECT   o.slug, o.id AS organization_id, coalesce(c.sealed_through, 0) AS sealed_through,
                     coalesce(c.head, %s) AS hash, c.sealed_at
            FROM     organizations o
            LEFT     JOIN audit_chains c ON c.organization_id = o.id
            WHERE    o.slug = coalesce(%s, o.slug)
            ORDER BY o.slug
            """,
            (FIRST_HASH, slug),
        )
        return [OrganizationChain(slug=row.pop("slug"), end=ChainEnd(**row)) for row in rows]

    def backlog(self, largest_max: int) -> SealingBacklog:
        rows = self._rows(BACKLOG, (largest_max,))
        return SealingBacklog(
            entries=rows[0]["total"] if rows else 0,
            largest=[UnsealedLog(organization_id=row["organization_id"], entries=row["entries"]) for row in rows],
        )

    def _marked(self, part: LogPart) -> Deferred[Turns]:
        """Defer finding the marked organizations whose turn it is."""
        marks = self._defer_values(MARKED, {"first_id": FIRST_ID, "marks_max": MARKS_MAX})

        def find() -> Turns:
            if not (marked := marks()):
                return NO_TURNS
            waiting = self._some_waiting(marked, part)
            # While very much waits, each of them has its turn, whether it has entries or not.
            turns = (marked if waiting is None else [one for one in marked if one in waiting])[:ORGANIZATIONS_MAX]
            idle = [] if waiting is None else [one for one in marked if one not in waiting]
            # Also where nothing waits, so that the marks behind these ones are looked at.
            self._connection.execute_later(_STORE_TURN, {"organization_id": turns[-1] if turns else marked[-1]})
            return Turns(waiting=turns, idle=idle)

        return find

    def _in_log(self, part: LogPart) -> Deferred[Turns]:
        """Defer finding the organizations whose turn it is in the logs themselves; begin anew after the highest id."""
        last_turn, store_turn = (_LAST_OLD_TURN, _STORE_OLD_TURN) if part.is_old else (_LAST_TURN, _STORE_TURN)
        last = self._defer_value_or_none(last_turn)

        def find() -> Turns:
            for after in (last() or FIRST_ID, FIRST_ID):
                values = {"after": after, "since_id": part.since_id, "end_id": part.end_id, "limit": LOOKED_AT_MAX}
                # Planned for the months of the part.
                waiting: list[UUID] = self._values(WAITING_IN_PART, values, prepare=False)
                if turns := list(dict.fromkeys(waiting))[:ORGANIZATIONS_MAX]:
                    self._connection.execute_later(store_turn, {"organization_id": turns[-1], "first_id": FIRST_ID})
                    return Turns(waiting=turns, idle=[])
            return NO_TURNS

        return find

    def _some_waiting(self, organization_ids: Sequence[UUID], part: LogPart) -> set[UUID] | None:
        """Return for which of these organizations entries wait; None when there are too many entries to say it."""
        waiting = self._values(
            WAITING,
            {
                "organization_ids": list(organization_ids),
                "since_id": part.since_id,
                "end_id": part.end_id,
                "limit": LOOKED_AT_MAX + 1,
            },
            # Planned for the months of the part.
            prepare=False,
        )
        return set(waiting) if len(waiting) <= LOOKED_AT_MAX else None

    def _defer_ends(self, organization_ids: Sequence[UUID]) -> Deferred[Sequence[ChainEnd]]:
        return self._defer_all(
            ChainEnd,
            """
            SELECT organization_id, sealed_through, head AS hash, sealed_at
            FROM   audit_chains
            WHERE  organization_id = ANY (%s)
            """,
            (list(organization_ids),),
        )


def _beginning(organization_id: UUID) -> ChainEnd:
    return ChainEnd(organization_id=organization_id, sealed_through=0, hash=FIRST_HASH, sealed_at=None)


def _chain_entry(*, last_position: int | None, **columns: Any) -> tuple[ChainEntry, int | None]:
    return ChainEntry(**columns), last_position


def _seal_row(one: SealedEntry) -> dict[str, Any]:
    return {
        "organization_id": str(one.entry.organization_id),
        "position": one.seal.position,
        "entry_id": str(one.seal.entry_id),
        "hash": one.seal.hash,
        "digests": one.seal.digests,
        "salts": one.seal.salts,
    }
