"""The hash chains of audit logs: `audit_entries.position`, `audit_seals` and `audit_chains`.

Sealing waits for no lock of another transaction, so it neither delays nor deadlocks with one. Anonymization changes an
entry first and its seal afterwards: until then sealing has left the entry out, or its seal is visible.
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
    ChainEnd,
    ChainEntry,
    LogPart,
    OrganizationChain,
    OutsideEntry,
    Seal,
    SealedEntry,
    SealingBacklog,
    Unsealed,
    UnsealedLog,
)
from core.audit.siem_stream import BATCH_EVERY
from core.ids import FIRST_ID, LAST_ID

# Of how many organizations one transaction seals entries.
ORGANIZATIONS_MAX: Final = 32
# Each step finds the next organization in the index of unsealed entries, however many entries each has.
WAITING: Final = """
    WITH RECURSIVE waiting (organization_id, number) AS (
        (SELECT   organization_id, 1
         FROM     audit_entries
         WHERE    position IS NULL AND organization_id > %(after)s AND id >= %(since_id)s AND id < %(end_id)s
         ORDER BY organization_id, created_at
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, waiting.number + 1
        FROM   waiting
        CROSS JOIN LATERAL (SELECT   organization_id
                            FROM     audit_entries
                            WHERE    position IS NULL AND organization_id > waiting.organization_id
                            AND      id >= %(since_id)s AND id < %(end_id)s
                            ORDER BY organization_id, created_at
                            LIMIT    1) AS next
        WHERE  waiting.number < %(organizations_max)s)
    SELECT organization_id FROM waiting
"""
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
# The ids first, because what a union returns cannot be locked. Then each entry is looked up by itself, in the month
# that its id names: a list of ids would be looked up for each of the organizations and in each of the months.
UNSEALED: Final = """
    WITH next (organization_id, id) AS MATERIALIZED (
        SELECT wanted.organization_id, one.id
        FROM   unnest(%(organization_ids)s::uuid[], %(shares)s::integer[]) AS wanted (organization_id, share)
        CROSS JOIN LATERAL (
            SELECT   id
            FROM     ((SELECT   id, created_at
                       FROM     audit_entries
                       WHERE    organization_id = wanted.organization_id AND position IS NULL
                       AND      created_at >= %(fresh_since)s AND id >= %(since_id)s AND id < %(end_id)s
                       ORDER BY created_at, id
                       LIMIT    (wanted.share + 1) / 2)
                      UNION
                      (SELECT   id, created_at
                       FROM     audit_entries
                       WHERE    organization_id = wanted.organization_id AND position IS NULL
                       AND      id >= %(since_id)s AND id < %(end_id)s
                       ORDER BY created_at, id
                       LIMIT    wanted.share)) AS first
            ORDER BY created_at >= %(fresh_since)s DESC, created_at, id
            LIMIT    wanted.share) AS one)
    SELECT   e.*
    FROM     next
    CROSS    JOIN LATERAL (SELECT id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                  user_agent, success, details, created_at
                           FROM   audit_entries
                           WHERE  organization_id = next.organization_id AND id = next.id
                           AND    id >= %(since_id)s AND id < %(end_id)s
                           FOR    NO KEY UPDATE SKIP LOCKED) AS e
    ORDER BY e.organization_id, e.created_at, e.id
"""
# In the order of their ids; the last one has no end.
PARTS: Final = """
    SELECT   coalesce(first_id, lag(end_id) OVER (ORDER BY end_id), %(first_id)s) AS since_id,
             coalesce(end_id, %(last_id)s) AS end_id
    FROM     log_partitions
    WHERE    log = 'audit_entries'
    ORDER BY end_id
"""
# What is counted of the logs, and the ends of their chains: a row of each for an organization.
BACKLOG: Final = """
    SELECT   organization_id, t.entries - coalesce(c.sealed_through, 0) AS entries,
             (sum(t.entries - coalesce(c.sealed_through, 0)) OVER ())::bigint AS total
    FROM     audit_totals t
    LEFT     JOIN audit_chains c USING (organization_id)
    WHERE    t.kind = '' AND t.entries > coalesce(c.sealed_through, 0)
    ORDER BY entries DESC, organization_id
    LIMIT    %s
"""
LAST_POSITIONS: Final = """
    SELECT wanted.organization_id,
           coalesce((SELECT max(position) FROM audit_seals s WHERE s.organization_id = wanted.organization_id), 0)
    FROM   unnest(%s::uuid[]) AS wanted (organization_id)
"""
# Entries and seals are looked up one by one (`OFFSET 0`). A chain that has just been sealed has no statistics, and a
# join that is planned without them reads all of it for each page. The id of the entry names its month.
PAGE: Final = """
    SELECT   e.id, e.organization_id, e.actor_user_id, e.action, e.target_type, e.target_id, e.ip_address, e.user_agent,
             e.success, e.details, e.created_at,
             s.position, s.hash, s.digests, s.salts,
             coalesce((SELECT previous.hash
                       FROM   audit_seals previous
                       WHERE  previous.organization_id = s.organization_id AND previous.position = s.position - 1),
                      %(first_hash)s) AS previous_hash
    FROM     audit_seals s
    CROSS    JOIN LATERAL (SELECT entry.*
                           FROM   audit_entries entry
                           WHERE  entry.organization_id = s.organization_id AND entry.id = s.entry_id
                           AND    entry.position = s.position
                           OFFSET 0) AS e
    WHERE    s.organization_id = %(organization_id)s AND s.position > %(after)s AND s.position <= %(through)s
    ORDER BY s.position
    LIMIT    %(limit)s
"""
# No index ensures that another entry does not have the position of a sealed one, so all months are asked.
MISPLACED: Final = """
    SELECT   e.id, e.position
    FROM     audit_entries e
    WHERE    e.organization_id = %(organization_id)s AND e.position > %(after)s AND e.position <= %(through)s
    AND      e.id <> ALL (ARRAY(SELECT entry_id
                                FROM   audit_seals
                                WHERE  organization_id = %(organization_id)s
                                AND    position > %(after)s AND position <= %(through)s))
    ORDER BY e.position
    LIMIT    1
"""
STORE: Final = """
    WITH sealed AS MATERIALIZED (
             SELECT *
             FROM   jsonb_to_recordset(%(sealed)s)
                    AS one (organization_id uuid, position bigint, entry_id uuid, hash text, digests jsonb,
                            salts jsonb)),
         stored AS (
             INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
             SELECT organization_id, position, entry_id, hash, digests, salts FROM sealed),
         ended AS (
             INSERT INTO audit_chains AS chain (organization_id, sealed_through, head, sealed_at)
             SELECT   DISTINCT ON (organization_id) organization_id, position, hash, %(now)s
             FROM     sealed
             ORDER BY organization_id, position DESC
             ON CONFLICT (organization_id) DO UPDATE
             SET    sealed_through = excluded.sealed_through, head = excluded.head,
                    sealed_at = excluded.sealed_at)
    UPDATE audit_entries
    SET    position = sealed.position
    FROM   sealed
    WHERE  audit_entries.id = sealed.entry_id AND audit_entries.organization_id = sealed.organization_id
    AND    audit_entries.id >= %(first_id)s AND audit_entries.id <= %(last_id)s
"""


class PostgresAuditChains(Aggregate):
    """The port `AuditChains`."""

    def parts(self) -> Sequence[LogPart]:
        return self._all(LogPart, PARTS, {"first_id": FIRST_ID, "last_id": LAST_ID})

    def take_turns(self, part: LogPart) -> Sequence[UUID]:
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.audit_sealing'))"):
            return []
        return self._waiting(part)

    def unsealed(self, shares: Mapping[UUID, int], *, fresh_since: datetime, part: LogPart) -> Sequence[Unsealed]:
        # A batch is shared among few organizations, so the row of each is not locked for long. One that is being
        # deleted is left out.
        present = self._values(
            "SELECT id FROM organizations WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE SKIP LOCKED", (list(shares),)
        )
        ends = {end.organization_id: end for end in self._ends(present)}
        last_positions = dict(self._connection.execute(LAST_POSITIONS, (present,)).fetchall())
        entries: dict[UUID, list[ChainEntry]] = {}
        rows = self._all(
            ChainEntry,
            UNSEALED,
            {
                "organization_ids": present,
                "shares": [shares[organization_id] for organization_id in present],
                "fresh_since": fresh_since,
                "since_id": part.since_id,
                "end_id": part.end_id,
            },
            # Planned for the months of the part.
            prepare=False,
        )
        for entry in rows:
            entries.setdefault(entry.organization_id, []).append(entry)
        return [
            Unsealed(
                end=ends.get(organization_id) or _beginning(organization_id),
                last_position=last_positions[organization_id],
                entries=found,
            )
            for organization_id, found in entries.items()
        ]

    def store(self, sealed: Sequence[SealedEntry]) -> None:
        self._connection.execute(
            STORE,
            {
                # One document takes a fraction of the time of an array for each column.
                "sealed": Jsonb([_seal_row(one) for one in sealed]),
                "now": self._transaction.now,
                # Of these months.
                "first_id": min(one.entry.id for one in sealed),
                "last_id": max(one.entry.id for one in sealed),
            },
            # Planned for these months: a plan for any of them would look at all.
            prepare=False,
        )
        # Also a stream that is due already: the lock makes `record` see these entries.
        self._connection.execute_later(
            """
            UPDATE siem_streams
            SET    due_at = coalesce(due_at, greatest(attempted_at + %s, %s))
            WHERE  organization_id = ANY (%s)
            """,
            (BATCH_EVERY, self._transaction.now, list({one.entry.organization_id for one in sealed})),
        )

    def end(self, organization_id: UUID) -> ChainEnd:
        found = self._ends([organization_id])
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

    def page(self, organization_id: UUID, *, after: int, through: int, limit: int) -> Sequence[SealedEntry]:
        rows = self._rows(
            PAGE,
            {
                "organization_id": organization_id,
                "after": after,
                "through": through,
                "limit": limit,
                "first_hash": FIRST_HASH,
            },
            # A prepared statement would be planned without the limit, for a tenth of the chain.
            prepare=False,
        )
        return [_sealed_entry(row) for row in rows]

    def first_outside(self, organization_id: UUID) -> OutsideEntry | None:
        # One snapshot, because the chain may grow meanwhile.
        return self._one(
            OutsideEntry,
            """
            (SELECT   id, position
             FROM     audit_entries
             WHERE    organization_id = %(organization_id)s AND position < 1
             ORDER BY position
             LIMIT    1)
            UNION ALL
            (SELECT   id, position
             FROM     audit_entries
             WHERE    organization_id = %(organization_id)s
             AND      position > coalesce((SELECT sealed_through
                                           FROM   audit_chains
                                           WHERE  organization_id = %(organization_id)s), 0)
             ORDER BY position
             LIMIT    1)
            ORDER BY position
            LIMIT    1
            """,
            {"organization_id": organization_id},
        )

    def first_misplaced(self, organization_id: UUID, *, after: int, through: int) -> OutsideEntry | None:
        found = self._all(
            OutsideEntry,
            MISPLACED,
            {"organization_id": organization_id, "after": after, "through": through},
            prepare=False,
        )
        return found[0] if found else None

    def backlog(self, largest_max: int) -> SealingBacklog:
        rows = self._rows(BACKLOG, (largest_max,))
        return SealingBacklog(
            entries=rows[0]["total"] if rows else 0,
            largest=[UnsealedLog(organization_id=row["organization_id"], entries=row["entries"]) for row in rows],
        )

    def _waiting(self, part: LogPart) -> list[UUID]:
        """Return the organizations whose turn it is, and store the last one; begin anew after the highest id."""
        last_turn, store_turn = (_LAST_OLD_TURN, _STORE_OLD_TURN) if part.is_old else (_LAST_TURN, _STORE_TURN)
        last = self._value_or_none(last_turn)
        for after in (last or FIRST_ID, FIRST_ID):
            waiting = self._values(
                WAITING,
                {
                    "after": after,
                    "since_id": part.since_id,
                    "end_id": part.end_id,
                    "organizations_max": ORGANIZATIONS_MAX,
                },
                # Planned for the months of the part.
                prepare=False,
            )
            if waiting:
                self._connection.execute_later(store_turn, {"organization_id": waiting[-1], "first_id": FIRST_ID})
                return waiting
        return []

    def _ends(self, organization_ids: Sequence[UUID]) -> Sequence[ChainEnd]:
        return self._all(
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


def _seal_row(one: SealedEntry) -> dict[str, Any]:
    return {
        "organization_id": str(one.entry.organization_id),
        "position": one.seal.position,
        "entry_id": str(one.seal.entry_id),
        "hash": one.seal.hash,
        "digests": one.seal.digests,
        "salts": one.seal.salts,
    }


def _sealed_entry(row: dict[str, Any]) -> SealedEntry:
    names = ("position", "previous_hash", "hash", "digests", "salts")
    seal = Seal(entry_id=row["id"], **{name: row.pop(name) for name in names})
    return SealedEntry(entry=ChainEntry(**row), seal=seal)
