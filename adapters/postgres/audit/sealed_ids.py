"""In which months the entries of a part of a chain are: the lowest and the highest of their ids.

Positions are given in about the order of the ids, but not exactly, so no partition of the log is a range of positions.
The seals have the ids. With them as values, a statement that reads entries by their positions is planned for their
months alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from adapters.postgres.driver.connection import Connection

SEALED_IDS: Final = """
    WITH sealed AS MATERIALIZED (
        SELECT entry_id
        FROM   audit_seals
        WHERE  organization_id = %(organization_id)s AND position > %(after)s AND position <= %(through)s)
    SELECT (SELECT entry_id FROM sealed ORDER BY entry_id LIMIT 1),
           (SELECT entry_id FROM sealed ORDER BY entry_id DESC LIMIT 1)
"""


class SealedIds(NamedTuple):
    """A range of ids, with both ends."""

    first_id: UUID
    last_id: UUID


def sealed_ids(connection: Connection, organization_id: UUID, *, after: int, through: int) -> SealedIds | None:
    """Return the range of the ids of the entries after a position up to another one; None when there are none."""
    values = {"organization_id": organization_id, "after": after, "through": through}
    [(first_id, last_id)] = connection.execute(SEALED_IDS, values).fetchall()
    return SealedIds(first_id, last_id) if first_id is not None else None
