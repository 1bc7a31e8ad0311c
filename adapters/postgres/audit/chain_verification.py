"""The sealed entries of audit logs as exports and verification read them, and entries that fit no seal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.audit.chain import FIRST_HASH, ChainEntry, OutsideEntry, Seal, SealedEntry

# Entries and seals are looked up one by one (`OFFSET 0`). A chain that has just been sealed has no statistics, and a
# join that is planned without them reads all of it for each page. The id of the entry names its month.
PAGE: Final = """
    SELECT   e.id, e.organization_id, e.actor_user_id, e.action, e.target_type, e.target_id, e.ip_address, e.user_agent,
             e.success, e.details, e.created_at,
             s.position, s.hash, s.digests, s.salts,
             coalesce((SELECT previous.hash
                       FROM   audit_seals previous
                       WHERE  previous.organization_id = %(organization_id)s
                       AND    previous.position = s.position - 1),
                      %(first_hash)s) AS previous_hash
    FROM     audit_seals s
    CROSS    JOIN LATERAL (SELECT entry.*
                           FROM   audit_entries entry
                           WHERE  entry.organization_id = %(organization_id)s AND entry.id = s.entry_id
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


class PostgresSealedEntries(Aggregate):
    """The port `SealedEntries`."""

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


def _sealed_entry(row: dict[str, Any]) -> SealedEntry:
    names = ("position", "previous_hash", "hash", "digests", "salts")
    seal = Seal(entry_id=row["id"], **{name: row.pop(name) for name in names})
    return SealedEntry(entry=ChainEntry(**row), seal=seal)
