"""The hash chains of audit logs: `audit_entries.position`, `audit_seals` and `audit_chains`.

Sealing waits for no lock of another transaction, so it neither delays nor deadlocks with one. Anonymization changes an
entry first and its seal afterwards: until then sealing has left the entry out, or its seal is visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import dict_row, kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.audit.chain import (
    FIRST_HASH,
    ChainEnd,
    Entry,
    OrganizationChain,
    OutsideEntry,
    Seal,
    SealedEntry,
    Unsealed,
)
from core.audit.siem_stream import BATCH_EVERY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

# Of how many organizations one transaction seals entries.
ORGANIZATIONS_MAX: Final = 25
_FIRST: Final = "00000000-0000-0000-0000-000000000000"
# Each step finds the next organization in the index of unsealed entries, however many entries each has.
WAITING: Final = """
    WITH RECURSIVE waiting (organization_id, number) AS (
        (SELECT   organization_id, 1
         FROM     audit_entries
         WHERE    position IS NULL AND organization_id > %(after)s
         ORDER BY organization_id, created_at
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, waiting.number + 1
        FROM   waiting
        CROSS JOIN LATERAL (SELECT   organization_id
                            FROM     audit_entries
                            WHERE    position IS NULL AND organization_id > waiting.organization_id
                            ORDER BY organization_id, created_at
                            LIMIT    1) AS next
        WHERE  waiting.number < %(organizations_max)s)
    SELECT organization_id FROM waiting
"""
UNSEALED: Final = """
    SELECT next.*
    FROM   unnest(%(organization_ids)s::uuid[]) AS wanted (organization_id)
    CROSS JOIN LATERAL (SELECT   id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                 user_agent, success, details, created_at
                        FROM     audit_entries
                        WHERE    organization_id = wanted.organization_id AND position IS NULL
                        ORDER BY created_at, id
                        LIMIT    %(share)s
                        FOR      NO KEY UPDATE SKIP LOCKED) AS next
"""
LAST_POSITIONS: Final = """
    SELECT wanted.organization_id,
           greatest((SELECT max(position) FROM audit_seals s WHERE s.organization_id = wanted.organization_id),
                    (SELECT max(position) FROM audit_entries e WHERE e.organization_id = wanted.organization_id), 0)
    FROM   unnest(%s::uuid[]) AS wanted (organization_id)
"""
# Entries and seals are looked up one by one (`OFFSET 0`). A chain that has just been sealed has no statistics, and a
# join that is planned without them reads all of it for each page.
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
                           WHERE  entry.organization_id = s.organization_id AND entry.position = s.position
                           OFFSET 0) AS e
    WHERE    s.organization_id = %(organization_id)s AND s.position > %(after)s AND s.position <= %(through)s
    ORDER BY s.position
    LIMIT    %(limit)s
"""


class PostgresAuditChains(Aggregate):
    """The port `AuditChains`."""

    def unsealed(self, limit: int) -> Sequence[Unsealed]:
        lock = self._connection.execute("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.audit_sealing'))")
        if lock.fetchone() != (True,):
            return []
        waiting = self._waiting()
        if not waiting:
            return []
        # A batch is shared among few organizations, so the row of each is not locked for long. One that is being
        # deleted is left out.
        present = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                "SELECT id FROM organizations WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE SKIP LOCKED", (waiting,)
            )
            .fetchall()
        )
        ends = {end.organization_id: end for end in self._ends(present)}
        last_positions = dict(self._connection.execute(LAST_POSITIONS, (present,)).fetchall())
        entries: dict[UUID, list[Entry]] = {}
        rows = self._connection.cursor(row_factory=kwargs_row(Entry)).execute(
            UNSEALED, {"organization_ids": present, "share": max(1, limit // max(1, len(present)))}, prepare=False
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
            """
            WITH sealed AS MATERIALIZED (
                     SELECT *
                     FROM   unnest(%(organization_ids)s::uuid[], %(positions)s::bigint[], %(entry_ids)s::uuid[],
                                   %(hashes)s::text[], %(digests)s::jsonb[], %(salts)s::jsonb[])
                            AS one (organization_id, position, entry_id, hash, digests, salts)),
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
            """,
            {
                "organization_ids": [one.entry.organization_id for one in sealed],
                "positions": [one.seal.position for one in sealed],
                "entry_ids": [one.entry.id for one in sealed],
                "hashes": [one.seal.hash for one in sealed],
                "digests": [Jsonb(one.seal.digests) for one in sealed],
                "salts": [Jsonb(one.seal.salts) for one in sealed],
                "now": self._transaction.now,
            },
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
        rows = self._connection.cursor(row_factory=dict_row).execute(
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
        rows = self._connection.cursor(row_factory=dict_row).execute(
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
        return (
            self._connection.cursor(row_factory=kwargs_row(OutsideEntry))
            .execute(
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
            .fetchone()
        )

    def _waiting(self) -> list[UUID]:
        """Return the organizations whose turn it is, and store the last one; begin anew after the highest id."""
        cursor = self._connection.cursor(row_factory=scalar_row)
        last = cursor.execute("SELECT last_organization_id FROM audit_sealing").fetchone()
        for after in (last or _FIRST, _FIRST):
            waiting = (
                self._connection.cursor(row_factory=scalar_row)
                .execute(WAITING, {"after": after, "organizations_max": ORGANIZATIONS_MAX}, prepare=False)
                .fetchall()
            )
            if waiting:
                self._connection.execute_later(
                    """
                    INSERT INTO audit_sealing (last_organization_id) VALUES (%s)
                    ON CONFLICT (is_the_only_row) DO UPDATE SET last_organization_id = excluded.last_organization_id
                    """,
                    (waiting[-1],),
                )
                return waiting
        return []

    def _ends(self, organization_ids: Sequence[UUID]) -> Sequence[ChainEnd]:
        return (
            self._connection.cursor(row_factory=kwargs_row(ChainEnd))
            .execute(
                """
                SELECT organization_id, sealed_through, head AS hash, sealed_at
                FROM   audit_chains
                WHERE  organization_id = ANY (%s)
                """,
                (list(organization_ids),),
            )
            .fetchall()
        )


def _beginning(organization_id: UUID) -> ChainEnd:
    return ChainEnd(organization_id=organization_id, sealed_through=0, hash=FIRST_HASH, sealed_at=None)


def _sealed_entry(row: dict[str, Any]) -> SealedEntry:
    names = ("position", "previous_hash", "hash", "digests", "salts")
    seal = Seal(entry_id=row["id"], **{name: row.pop(name) for name in names})
    return SealedEntry(entry=Entry(**row), seal=seal)
